/* panels.ts - the components of the selected entity: each property in its type, with unit, range and help, edited in place.
 *
 * A panel is built when an entity is selected or its components change, and from then on only its values are written. A
 * cell that is being edited is left alone until it is done: Enter or leaving it sets the value, Escape takes it back.
 */
import { call, RpcError } from "./rpc";
import { append, formatNumber, h, icon, iconButton, ICONS, replace, setText } from "./dom";
import { Component, Entity, Field, setting, store } from "./store";

const PARTS: Record<string, string[]> = {
    vec2: ["x", "y"], vec3: ["x", "y", "z"], vec4: ["x", "y", "z", "w"], dvec2: ["x", "y"], dvec3: ["x", "y", "z"], dvec4: ["x", "y", "z", "w"], quat: ["x", "y", "z", "w"], colour: ["r", "g", "b", "a"],
};
const NUMBERS = new Set(["u8", "u16", "i8", "i16", "i32", "u32", "i64", "u64", "f32", "f64"]);
const closed = setting<string[]>("closed", []);

/** Shows one value, and may change it. */
interface Editor {
    element: HTMLElement;
    write(value: any): void;
}

/** Where a value is set. */
interface Place {
    component: Component;
    field: Field;
    row: HTMLElement;
}

async function send(place: Place, path: string, value: unknown, cell: HTMLElement): Promise<void> {
    cell.classList.remove("refused", "taken");
    place.row.querySelector(".refusal")?.remove();
    try {
        await call("world.mutate_components", {
            entity: store.selection, component: place.component.component, path: "." + place.field.name + path, value,
        });
        void cell.offsetWidth; /* so that the animation begins anew */
        cell.classList.add("taken");
    } catch (error) {
        cell.classList.add("refused");
        const why = error instanceof RpcError ? error.message : "the host does not answer; the value is as it was";
        place.row.append(h("div", { class: "refusal", role: "alert" }, why));
    }
}

/* --- numbers ------------------------------------------------------------------------------------------------------------ */

/** A number in a text field: arrow keys step it, its label can be dragged. */
class NumberCell implements Editor {
    readonly element: HTMLElement;
    private input: HTMLInputElement;
    private value: any = 0;
    private whole: boolean;

    constructor(private place: Place, private path: string, label: string) {
        const { field } = place;
        this.whole = /^[iu]\d/.test(field.type);
        this.input = h("input", {
            type: "text", class: "number", inputmode: "decimal", spellcheck: "false", autocomplete: "off", readonly: field.readOnly === true,
            "aria-label": `${place.component.name}.${field.name}${path}`,
            on: {
                keydown: (event: KeyboardEvent) => this.key(event), blur: () => this.finish(), focus: () => this.input.select(),
                input: () => this.input.classList.add("edited"),
            },
        });
        const handle = h("span", { class: "part part-" + (label || "one"), "aria-hidden": "true" }, label);
        if (!field.readOnly && label !== "")
            this.draggable(handle);
        this.element = h("label", { class: "cell" }, label === "" ? null : handle, this.input);
    }

    write(value: any): void {
        this.value = value;
        if (this.input.classList.contains("edited"))
            return;
        const text = value === null || value === undefined ? "" : formatNumber(value);
        if (this.input.value !== text)
            this.input.value = text;
        this.input.title = typeof value === "number" ? String(value) : "";
    }

    private limit(value: number): number {
        const { min, max } = this.place.field;
        if (min !== undefined && value < Number(min))
            value = Number(min);
        if (max !== undefined && value > Number(max))
            value = Number(max);
        return this.whole ? Math.round(value) : value;
    }

    private stepSize(event: { shiftKey: boolean; altKey: boolean }): number {
        const size = Math.abs(Number(this.value) || 0);
        const step = this.whole ? 1 : size === 0 ? 0.1 : 10 ** (Math.floor(Math.log10(size)) - 1);
        const step10 = event.shiftKey ? step * 10 : event.altKey ? step / 10 : step;
        return this.whole ? Math.max(1, step10) : step10;
    }

    private change(value: number): void {
        const limited = this.limit(value);
        this.value = Number(limited.toPrecision(9));
        this.input.value = formatNumber(this.value);
        void send(this.place, this.path, this.value, this.element);
    }

    private key(event: KeyboardEvent): void {
        if (event.key === "Escape") {
            this.input.classList.remove("edited");
            this.write(this.value);
            this.input.select();
            event.stopPropagation();
        } else if (event.key === "Enter") {
            this.finish();
            this.input.select();
        } else if ((event.key === "ArrowUp" || event.key === "ArrowDown") && !this.place.field.readOnly) {
            event.preventDefault();
            this.input.classList.remove("edited");
            this.change(Number(this.value) + (event.key === "ArrowUp" ? 1 : -1) * this.stepSize(event));
        }
    }

    private finish(): void {
        if (!this.input.classList.contains("edited"))
            return;
        this.input.classList.remove("edited");
        const text = this.input.value.trim();
        const number = Number(text);
        if (text !== "" && Number.isFinite(number))
            void send(this.place, this.path, number, this.element);
        else
            void send(this.place, this.path, text, this.element);
    }

    private draggable(handle: HTMLElement): void {
        handle.classList.add("draggable");
        handle.addEventListener("pointerdown", (down) => {
            down.preventDefault();
            handle.setPointerCapture(down.pointerId);
            const begin = Number(this.value) || 0;
            const step = this.stepSize({ shiftKey: false, altKey: false });
            const move = (event: PointerEvent) => this.change(begin + Math.round((event.clientX - down.clientX) / 3) * step * (event.shiftKey ? 10 : 1));
            const up = () => handle.removeEventListener("pointermove", move);
            handle.addEventListener("pointermove", move);
            handle.addEventListener("pointerup", up, { once: true });
            handle.addEventListener("pointercancel", up, { once: true });
        });
    }
}

/** A slider where both limits are known, beside the number. */
class RangeCell implements Editor {
    readonly element: HTMLElement;
    private slider: HTMLInputElement;
    private number: NumberCell;

    constructor(place: Place) {
        const { field } = place;
        const low = Number(field.min), high = Number(field.max);
        this.number = new NumberCell(place, "", "");
        this.slider = h("input", {
            type: "range", min: low, max: high, step: /^[iu]\d/.test(field.type) ? 1 : (high - low) / 1000, "aria-label": field.name + " between its limits",
            on: { input: () => { const value = Number(this.slider.value); this.number.write(value); void send(place, "", value, this.element); } },
        });
        this.element = h("div", { class: "range" }, this.slider, this.number.element);
    }

    write(value: any): void {
        if (document.activeElement !== this.slider)
            this.slider.value = String(value);
        this.number.write(value);
    }
}

/** Numbers side by side: vectors and matrices. */
class PartsCell implements Editor {
    readonly element: HTMLElement;
    private cells: NumberCell[];

    constructor(place: Place, count: number) {
        const names = PARTS[place.field.type] ?? [];
        this.cells = Array.from({ length: count }, (_, i) =>
            new NumberCell(place, names[i] !== undefined ? "." + names[i] : `[${i}]`, names[i] ?? ""));
        this.element = h("div", { class: "parts parts-" + (count === 16 ? "matrix" : count) }, ...this.cells.map((cell) => cell.element));
    }

    write(value: any): void {
        this.cells.forEach((cell, i) => cell.write(Array.isArray(value) ? value[i] : null));
    }
}

/* --- the other types ----------------------------------------------------------------------------------------------------- */

class BoolCell implements Editor {
    readonly element: HTMLElement;
    private box: HTMLInputElement;

    constructor(place: Place) {
        this.box = h("input", {
            type: "checkbox", role: "switch", disabled: place.field.readOnly === true, "aria-label": place.field.name,
            on: { change: () => void send(place, "", this.box.checked, this.element) },
        });
        this.element = h("label", { class: "switch" }, this.box, h("span", { class: "knob" }));
    }

    write(value: any): void {
        this.box.checked = value === true;
    }
}

class TextCell implements Editor {
    readonly element: HTMLElement;
    private input: HTMLInputElement;
    private value = "";

    constructor(place: Place) {
        this.input = h("input", {
            type: "text", class: "text", spellcheck: "false", autocomplete: "off", readonly: place.field.readOnly === true,
            "aria-label": `${place.component.name}.${place.field.name}`,
            on: {
                input: () => this.input.classList.add("edited"),
                blur: () => this.finish(place),
                keydown: (event: KeyboardEvent) => {
                    if (event.key === "Enter")
                        this.finish(place);
                    if (event.key !== "Escape")
                        return;
                    event.stopPropagation();
                    this.input.classList.remove("edited");
                    this.write(this.value);
                },
            },
        });
        this.element = h("div", { class: "cell" }, this.input);
    }

    private finish(place: Place): void {
        if (!this.input.classList.contains("edited"))
            return;
        this.input.classList.remove("edited");
        void send(place, "", this.input.value, this.element);
    }

    write(value: any): void {
        this.value = typeof value === "string" ? value : JSON.stringify(value ?? "");
        if (!this.input.classList.contains("edited") && this.input.value !== this.value)
            this.input.value = this.value;
    }
}

/** Names of values with their numbers: one without a number has the next after the one before. */
function choices(values: string): [string, number][] {
    let next = 0;
    return values.split(/\s+/).filter((word) => word !== "").map((word) => {
        const [name, number] = word.split("=");
        next = number === undefined ? next : Number(number);
        return [name, next++];
    });
}

/** One of a few named values. */
class ChoiceCell implements Editor {
    readonly element: HTMLSelectElement;

    constructor(place: Place) {
        this.element = h("select", {
            disabled: place.field.readOnly === true, "aria-label": place.field.name,
            on: { change: () => void send(place, "", Number(this.element.value), this.element) },
        }, ...choices(place.field.values!).map(([name, value]) => h("option", { value }, name)));
    }

    write(value: any): void {
        if (document.activeElement !== this.element)
            this.element.value = String(value);
    }
}

const hex = (part: number) => Math.round(Math.max(0, Math.min(1, part)) * 255).toString(16).padStart(2, "0");

class ColourCell implements Editor {
    readonly element: HTMLElement;
    private swatch: HTMLInputElement;
    private parts: PartsCell;
    private alpha = 1;

    constructor(place: Place) {
        this.swatch = h("input", {
            type: "color", disabled: place.field.readOnly === true, "aria-label": place.field.name,
            on: { input: () => {
                const text = this.swatch.value;
                const value = [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16) / 255);
                void send(place, "", [...value, this.alpha], this.element);
            } },
        });
        this.parts = new PartsCell(place, 4);
        this.element = h("div", { class: "colour" }, this.swatch, this.parts.element);
    }

    write(value: any): void {
        if (Array.isArray(value)) {
            this.alpha = value[3];
            if (document.activeElement !== this.swatch)
                this.swatch.value = "#" + value.slice(0, 3).map(hex).join("");
        }
        this.parts.write(value);
    }
}

/** Another entity: its name leads there; typing sets another one. */
class EntityCell implements Editor {
    readonly element: HTMLElement;
    private link: HTMLButtonElement;
    private input: HTMLInputElement;
    private value = 0;
    private known = 0;

    constructor(private place: Place) {
        this.link = h("button", { type: "button", class: "link", on: { click: () => store.select(this.value) } });
        this.input = h("input", {
            type: "text", class: "text", placeholder: "none", spellcheck: "false", readonly: place.field.readOnly === true,
            "aria-label": `${place.component.name}.${place.field.name}`, title: "a name, #index:generation, or none",
            on: { keydown: (event: KeyboardEvent) => event.key === "Enter" && this.finish(), blur: () => this.finish(), input: () => this.input.classList.add("edited") },
        });
        this.element = h("div", { class: "cell entity-cell" }, this.input, this.link);
    }

    private finish(): void {
        if (!this.input.classList.contains("edited"))
            return;
        this.input.classList.remove("edited");
        this.known = -1;
        const text = this.input.value.trim();
        void send(this.place, "", text === "" ? null : text, this.element);
    }

    write(value: any): void {
        this.value = typeof value === "number" ? value : 0;
        this.link.hidden = this.value === 0;
        if (this.known === this.value)
            return;
        this.known = this.value;
        const index = this.value % 4294967296, generation = Math.floor(this.value / 4294967296);
        const id = this.value === 0 ? "" : `#${index}:${generation}`;
        setText(this.link, "→");
        this.link.title = "show " + id;
        if (!this.input.classList.contains("edited"))
            this.input.value = id;
        if (this.value !== 0)
            void call("backplane.entity", { world: store.world, entity: this.value }).then((told: Entity) => {
                if (told.entity === this.value && told.name && !this.input.classList.contains("edited"))
                    this.input.value = told.name;
            }, () => undefined);
    }
}

/** A value of a type without an editor of its own: shown as JSON, set as the text of the console. */
function editorOf(place: Place): Editor {
    const { field } = place;
    if (field.values !== undefined)
        return new ChoiceCell(place);
    if (field.type === "bool")
        return new BoolCell(place);
    if (field.type === "colour")
        return new ColourCell(place);
    if (field.type === "entity")
        return new EntityCell(place);
    if (field.parts > 1)
        return new PartsCell(place, field.parts);
    if (NUMBERS.has(field.type))
        return field.min !== undefined && field.max !== undefined && !field.readOnly ? new RangeCell(place) : new NumberCell(place, "", "");
    return new TextCell(place);
}

/* --- panels ----------------------------------------------------------------------------------------------------------------- */

function help(field: Field): string {
    const lines = [field.doc ?? ""];
    if (field.min !== undefined || field.max !== undefined)
        lines.push(`from ${field.min ?? "−∞"} to ${field.max ?? "∞"}`);
    if (field.initial !== undefined)
        lines.push("default " + field.initial);
    if (field.readOnly)
        lines.push("read only");
    return lines.filter((line) => line !== "").join("\n");
}

export class Panels {
    readonly element: HTMLElement;
    private body: HTMLElement;
    private title: HTMLElement;
    private id: HTMLElement;
    private shape = "";
    private editors: { component: string; field: string; editor: Editor }[] = [];

    constructor(frame: () => void) {
        this.title = h("h2", {}, "Nothing selected");
        this.id = h("span", { class: "dim mono small" });
        this.body = h("div", { class: "panels" });
        this.element = h("section", { class: "pane right", "aria-label": "components of the selected entity" },
            h("div", { class: "pane-head" }, this.title, this.id, h("span", { class: "fill" }),
                iconButton(ICONS.target, "show it in the view (f)", frame)),
            this.body);
        for (const subject of ["entity", "types", "selection", "info"] as const)
            store.on(subject, () => this.update());
        this.update();
    }

    private update(): void {
        const entity = store.entity;
        if (store.selection === 0 || entity === null)
            return this.explain();
        const shape = entity.entity + (entity.gone ? "!" : "") + entity.components.map((c) => {
            const fields = store.types.get(c.type)?.fields ?? [];
            return c.component + ":" + fields.map((f) => f.name + f.type + f.unit + f.readOnly).join(",");
        }).join(";") + store.info?.readOnly;
        const own = store.ownSelected();
        setText(this.title, own ? `world ${store.world}` : entity.name ?? "entity");
        setText(this.id, own ? "its own components" : entity.id);
        if (shape !== this.shape) {
            this.shape = shape;
            this.build(entity);
        }
        for (const { component, field, editor } of this.editors) {
            const values = entity.components.find((c) => c.component === component)?.values;
            editor.write(values?.[field]);
        }
    }

    private explain(): void {
        this.shape = "";
        this.editors = [];
        setText(this.title, store.selection === 0 ? "Nothing selected" : "…");
        setText(this.id, "");
        if (store.selection !== 0)
            return;
        replace(this.body, h("div", { class: "empty" },
            store.entityProblem !== "" ? h("p", {}, store.entityProblem) : h("p", {}, "Select an entity in the list or in the view."),
            h("p", { class: "dim" }, "Its components appear here, and every value that is not read only can be changed.")));
    }

    private build(entity: Entity): void {
        this.editors = [];
        replace(this.body);
        if (entity.gone || entity.components.length === 0) {
            append(this.body, [h("div", { class: "empty" },
                h("p", {}, entity.gone ? "This entity has died." : "This entity has no components in this world."))]);
            return;
        }
        for (const component of entity.components)
            this.body.append(this.panel(component));
    }

    private panel(component: Component): HTMLElement {
        const type = store.types.get(component.type);
        const open = !closed.get().includes(component.type);
        const details: HTMLDetailsElement = h("details", { class: "panel", open, on: { toggle: () => this.remember(component.type, details.open) } },
            h("summary", { title: type?.doc ?? "" }, icon(ICONS.chevron), h("span", { class: "name" }, component.name),
                component.name === component.type ? null : h("span", { class: "dim small" }, component.type), h("span", { class: "fill" }),
                type?.plugin && type.plugin !== component.type ? h("span", { class: "dim small" }, type.plugin) : null));
        for (const field of type?.fields ?? [])
            details.append(this.field(component, field));
        if ((type?.fields.length ?? 0) === 0)
            details.append(h("p", { class: "dim none" }, "no properties"));
        return details;
    }

    private remember(type: string, open: boolean): void {
        const rest = closed.get().filter((one) => one !== type);
        closed.set(open ? rest : [...rest, type]);
    }

    private field(component: Component, given: Field): HTMLElement {
        const field = store.info?.readOnly ? { ...given, readOnly: true } : given;
        const row = h("div", { class: "field" + (field.readOnly ? " read-only" : "") });
        const editor = editorOf({ component, field, row });
        const curve = NUMBERS.has(field.type) || field.parts > 1 && field.parts <= 4 || field.type === "bool";
        append(row, [
            h("div", { class: "field-head", title: help(field) },
                h("span", { class: "field-name" }, field.name), field.unit ? h("span", { class: "unit" }, field.unit) : null,
                field.readOnly ? icon(ICONS.lock) : null, h("span", { class: "fill" }), h("span", { class: "type" }, field.type),
                curve ? iconButton(ICONS.curve, `curve of ${field.name}`, () => this.watch(component, field), { class: "icon-button small" }) : h("span", { class: "no-button" })),
            editor.element,
        ]);
        this.editors.push({ component: component.component, field: field.name, editor });
        return row;
    }

    private watch(component: Component, field: Field): void {
        const parts = PARTS[field.type] ?? [""];
        const name = store.ownSelected() ? store.world : store.entity?.name ?? store.entity?.id ?? "";
        for (const part of parts) {
            const property = `${component.component}.${field.name}` + (part === "" ? "" : "." + part);
            store.watch({ entity: store.selection, property, label: `${name} ${field.name}` + (part === "" ? "" : "." + part), unit: field.unit ?? "" });
        }
        document.dispatchEvent(new CustomEvent("show-tab", { detail: "curves" }));
    }
}
