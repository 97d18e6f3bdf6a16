/* view.ts - the world as points: any vec2 or vec3 property in two or three dimensions, colour and size by others.
 *
 * Three canvases lie on each other: the grid, the points (WebGL), and names with what is selected. New points are asked for
 * when the last ones have been drawn, so that a slow browser or a slow host sets the pace, and less often while the world
 * stands still. Where the server has thinned the points, the region in sight is asked for by itself.
 */
import { Camera, Vec3 } from "./camera";
import { Cloud, Look, Points, readPoints, TRAIL_POINTS } from "./cloud";
import { ticks } from "./curves";
import { formatCount, formatNumber, h, ICONS, iconButton, replace, setText } from "./dom";
import { call, Offline, points, RpcError } from "./rpc";
import { setting, store } from "./store";

const MOST = 100_000;
const NAMED = 60;
const NUMBERS = new Set(["u8", "u16", "i8", "i16", "i32", "u32", "i64", "u64", "f32", "f64", "bool"]);

interface Choice {
    position: string;
    colour: string;
    size: string;
    flat: boolean;
    trails: boolean;
    names: boolean;
    follow: boolean;
}

const choices = setting<Record<string, Choice>>("view", {});

const SLOW = 45;   /* milliseconds between two pictures while the camera moves */
const RESTS = 250; /* after so many it does not move any more */

export class View {
    readonly element: HTMLElement;
    private grid = h("canvas", { class: "layer", "aria-hidden": "true" });
    private canvas = h("canvas", { class: "layer", "aria-hidden": "true" });
    private labels = h("canvas", { class: "layer", "aria-hidden": "true" });
    private stage: HTMLElement;
    private message = h("div", { class: "empty over", hidden: true });
    private status = h("div", { class: "view-status" });
    private legend = h("div", { class: "view-legend", hidden: true });
    private selects: Record<"position" | "colour" | "size", HTMLSelectElement>;
    private toggles: Record<string, HTMLButtonElement> = {};
    private camera = new Camera();
    private cloud: Cloud | null = null;
    private data: Points | null = null;
    private choice: Choice = { position: "", colour: "", size: "", flat: true, trails: true, names: true, follow: false };
    private look: Look = {
        mode: 0, accent: [0.34, 0.71, 0.91], range: [0, 1], logarithmic: false, sizeRange: [0, 1], sizeLogarithmic: false, sized: false, pixels: 4, alpha: 1,
    };
    private names = new Map<number, string>();
    private namesKey = "";
    private framed = false;
    private running = false;
    private planned = false;
    private moved = 0;   /* when the camera was last moved by hand, ... */
    private every = 1;   /* ... and which points are drawn meanwhile: each of so many */
    private drawn = 0;
    private settling = 0;
    private hovered = -1;
    private frames: number[] = [];

    constructor() {
        const pick = (what: "position" | "colour" | "size", label: string) => {
            const select: HTMLSelectElement = h("select", { "aria-label": label, on: { change: () => this.choose(what, select.value) } });
            return select;
        };
        this.selects = { position: pick("position", "position"), colour: pick("colour", "colour"), size: pick("size", "size") };
        const toggle = (name: string, label: string, title: string, action: () => void) =>
            this.toggles[name] = h("button", { type: "button", title, on: { click: action } }, label);
        this.stage = h("div", {
            class: "stage", tabindex: 0, role: "application",
            "aria-label": "view of the world: arrow keys move, plus and minus zoom, f shows everything, a click selects",
        }, this.grid, this.canvas, this.labels, this.legend, this.status, this.message);
        this.element = h("div", { class: "tab-body view" },
            h("div", { class: "tool-bar" },
                h("label", {}, h("span", { class: "dim" }, "Position"), this.selects.position),
                h("label", {}, h("span", { class: "dim" }, "Colour"), this.selects.colour),
                h("label", {}, h("span", { class: "dim" }, "Size"), this.selects.size),
                h("span", { class: "fill" }),
                h("div", { class: "segmented" }, toggle("flat", "2D", "seen from above", () => this.setFlat(true)),
                    toggle("deep", "3D", "seen from the side", () => this.setFlat(false))),
                h("div", { class: "segmented" },
                    toggle("trails", "trails", "where points have been", () => this.flip("trails")),
                    toggle("names", "names", "names beside points", () => this.flip("names")),
                    toggle("follow", "follow", "keep the selected entity in the middle", () => this.flip("follow"))),
                iconButton(ICONS.frame, "show everything (f)", () => this.frameAll())),
            this.stage);
        this.listen();
        this.begin();
    }

    private listen(): void {
        new ResizeObserver(() => this.resize()).observe(this.stage);
        store.on("world", () => this.setWorld());
        store.on("types", () => this.fillSelects());
        store.on("selection", () => this.plan());
        store.on("theme", () => this.plan());
        store.on("link", () => void this.run());
        this.stage.addEventListener("wheel", (event) => {
            event.preventDefault();
            const box = this.stage.getBoundingClientRect();
            this.camera.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), event.clientX - box.left, event.clientY - box.top);
            this.move();
        }, { passive: false });
        this.stage.addEventListener("pointerdown", (event) => this.press(event));
        this.stage.addEventListener("pointermove", (event) => this.hover(event));
        this.stage.addEventListener("keydown", (event) => this.key(event));
    }

    private begin(): void {
        const gl = this.canvas.getContext("webgl2", { antialias: true, premultipliedAlpha: true, powerPreference: "low-power" });
        if (gl === null)
            return this.say("This browser has no WebGL 2, which the view draws with.", "The lists, panels and curves work without it.");
        this.cloud = new Cloud(gl);
        this.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
        this.canvas.addEventListener("webglcontextrestored", () => { this.cloud = new Cloud(gl); });
    }

    private say(text: string, more: string): void {
        this.message.hidden = text === "";
        replace(this.message, h("p", {}, text), h("p", { class: "dim" }, more));
    }

    /* --- what is shown ---------------------------------------------------------------------------------------------------- */

    /** All properties of the world's components that fit, as "component.property". */
    private properties(fits: (type: string) => boolean): { path: string; label: string }[] {
        const seen = new Set<string>();
        const found: { path: string; label: string }[] = [];
        for (const component of store.components)
            for (const field of store.types.get(component.type)?.fields ?? []) {
                const path = `${component.component}.${field.name}`;
                if (!fits(field.type) || seen.has(path) || component.count === 0)
                    continue;
                seen.add(path);
                found.push({ path, label: `${component.name}.${field.name}` });
            }
        return found;
    }

    /** Components that keep a position as numbers x, y and perhaps z. */
    private pairs(): { path: string; label: string }[] {
        const found: { path: string; label: string }[] = [];
        for (const component of store.components) {
            const fields = store.types.get(component.type)?.fields ?? [];
            const axes = ["x", "y", "z"].filter((axis) => fields.some((f) => f.name === axis && NUMBERS.has(f.type)));
            if (axes.length >= 2 && axes[1] === "y" && component.count > 0)
                found.push({ path: axes.map((axis) => `${component.component}.${axis}`).join(" "), label: `${component.name} (${axes.join(", ")})` });
        }
        return found;
    }

    private fillSelects(): void {
        const positions = [...this.properties((type) => /^d?vec[23]$/.test(type)), ...this.pairs()];
        const vectors = this.properties((type) => /^d?vec|quat/.test(type));
        const numbers = [...this.properties((type) => NUMBERS.has(type)),
            ...vectors.map(({ path, label }) => ({ path: `length(${path})`, label: `|${label}|` }))];
        const fill = (select: HTMLSelectElement, options: { path: string; label: string }[], none: string | null) =>
            replace(select, none === null ? null : h("option", { value: "" }, none), ...options.map((o) => h("option", { value: o.path }, o.label)));
        fill(this.selects.position, positions, null);
        fill(this.selects.colour, numbers, "one colour");
        fill(this.selects.size, numbers, "one size");
        this.repair(positions.map((p) => p.path), numbers.map((n) => n.path));
    }

    /** Replace a choice that no longer fits by the likeliest one. */
    private repair(positions: string[], numbers: string[]): void {
        const kept = choices.get()[store.world];
        if (kept !== undefined)
            this.choice = { ...this.choice, ...kept };
        if (!positions.includes(this.choice.position)) {
            this.choice.position = positions.find((p) => /\.world_position$/.test(p)) ?? positions.find((p) => /position(\.x .*)?$/.test(p)) ?? positions[0] ?? "";
            this.choice.flat = kept?.flat ?? true;
            this.framed = false;
        }
        if (!numbers.includes(this.choice.colour))
            this.choice.colour = "";
        if (!numbers.includes(this.choice.size))
            this.choice.size = "";
        if (positions.length === 0 && store.info !== null && store.there)
            this.say("No component of this world has a vec2 or a vec3 to draw.",
                "Give entities one, like point_mass (position) or transform; the list and the panels show the rest.");
        else if (this.cloud !== null)
            this.say("", "");
        this.message.hidden ||= positions.length > 0;
        this.showChoice();
        void this.run();
    }

    private showChoice(): void {
        for (const what of ["position", "colour", "size"] as const)
            this.selects[what].value = this.choice[what];
        this.camera.flat = this.choice.flat;
        const pressed: Record<string, boolean> = {
            flat: this.choice.flat, deep: !this.choice.flat, trails: this.choice.trails, names: this.choice.names, follow: this.choice.follow,
        };
        for (const [name, button] of Object.entries(this.toggles))
            button.setAttribute("aria-pressed", String(pressed[name]));
    }

    private keep(): void {
        choices.set({ ...choices.get(), [store.world]: this.choice });
        this.showChoice();
        this.plan();
    }

    private choose(what: "position" | "colour" | "size", value: string): void {
        this.choice[what] = value;
        if (what === "position") {
            this.framed = false;
            this.cloud?.forget();
        }
        this.keep();
        void this.run();
    }

    private setFlat(flat: boolean): void {
        this.choice.flat = flat;
        this.keep();
        this.frameAll();
    }

    private flip(what: "trails" | "names" | "follow"): void {
        this.choice[what] = !this.choice[what];
        if (what === "trails")
            this.cloud?.forget();
        this.keep();
    }

    private setWorld(): void {
        this.data = null;
        this.framed = false;
        this.cloud?.forget();
        this.fillSelects();
    }

    /* --- points ------------------------------------------------------------------------------------------------------------- */

    private get seen(): boolean {
        return this.element.offsetParent !== null && !document.hidden && store.there && this.choice.position !== "" && this.cloud !== null &&
            this.camera.width > 1;
    }

    /** Ask for points again and again, while the view is in sight. */
    async run(): Promise<void> {
        if (this.running)
            return;
        this.running = true;
        let step = -1;
        while (this.seen) {
            const began = performance.now();
            let pause = 33;
            try {
                const data = readPoints(await points(this.wish()));
                pause = data.step === step ? 200 : 33;
                step = data.step;
                this.take(data);
            } catch (error) {
                if (error instanceof RpcError)
                    this.say(error.message, "Choose another property above.");
                pause = error instanceof Offline ? 1000 : 500;
            }
            await new Promise((resolve) => setTimeout(resolve, Math.max(0, pause - (performance.now() - began))));
            await new Promise(requestAnimationFrame);
        }
        this.running = false;
    }

    private wish(): object {
        const axes = this.choice.position.split(" ");
        const wish: any = { world: store.world, position: axes.length > 1 ? axes : axes[0], most: MOST };
        if (this.choice.colour !== "")
            wish.colour = this.choice.colour;
        if (this.choice.size !== "")
            wish.size = this.choice.size;
        if (this.framed && this.data !== null && this.data.all > MOST && this.choice.flat) {
            const low = this.camera.unproject(0, this.camera.height), high = this.camera.unproject(this.camera.width, 0);
            wish.box = [low[0], low[1], -3e38, high[0], high[1], 3e38];
        }
        return wish;
    }

    private take(data: Points): void {
        const back = this.data !== null && data.step < this.data.step;
        this.data = data;
        this.setLook(data);
        if (back)
            this.cloud!.forget(); /* the host has gone back: the next points do not continue the trails */
        this.cloud!.load(data, this.choice.trails);
        if (!this.framed && data.count > 0) {
            this.framed = true;
            this.frameAll();
        }
        if (this.choice.follow)
            this.centre();
        void this.readNames(data);
        this.frames.push(performance.now());
        this.message.hidden = true;
        this.plan();
    }

    private rangeOf(values: Float32Array): [number, number, boolean] {
        let low = Infinity, high = -Infinity;
        for (const value of values) {
            if (value < low)
                low = value;
            if (value > high)
                high = value;
        }
        if (!Number.isFinite(low))
            return [0, 1, false];
        const logarithmic = low > 0 && high / low > 1000;
        return logarithmic ? [Math.log(low), Math.log(high), true] : [low, high, false];
    }

    private setLook(data: Points): void {
        const look = this.look;
        const [low, high, logarithmic] = this.rangeOf(data.colours);
        const [least, largest, sizeLogarithmic] = this.rangeOf(data.sizes);
        look.mode = this.choice.colour !== "" ? 1 : data.count <= NAMED ? 2 : 0;
        look.range = [low, high];
        look.logarithmic = logarithmic;
        look.sizeRange = [least, largest];
        look.sizeLogarithmic = sizeLogarithmic;
        look.sized = this.choice.size !== "" && largest > least;
        look.pixels = data.count <= 200 ? 9 : data.count <= 5000 ? 5 : data.count <= 30000 ? 3 : 1.2;
        look.alpha = data.count <= 5000 ? 1 : data.count <= 30000 ? 0.75 : 0.4; /* so that denser places can be told */
        const light = document.documentElement.dataset.theme === "light";
        look.accent = light ? [0.04, 0.41, 0.85] : [0.34, 0.71, 0.91];
        this.showLegend(low, high, logarithmic);
    }

    private showLegend(low: number, high: number, logarithmic: boolean): void {
        this.legend.hidden = this.choice.colour === "";
        if (this.legend.hidden)
            return;
        const value = (v: number) => formatNumber(logarithmic ? Math.exp(v) : v, 3);
        const label = this.selects.colour.selectedOptions[0]?.textContent ?? "";
        const key = label + value(low) + value(high);
        if (this.legend.dataset.key === key)
            return;
        this.legend.dataset.key = key;
        replace(this.legend, h("span", {}, label + (logarithmic ? ", logarithmic" : "")), h("span", { class: "ramp" }),
            h("span", { class: "ends mono" }, h("span", {}, value(low)), h("span", {}, value(high))));
    }

    private async readNames(data: Points): Promise<void> {
        const key = data.count <= 300 && this.choice.names ? data.names.join() : "";
        if (key === this.namesKey)
            return;
        this.namesKey = key;
        this.names.clear();
        if (key === "")
            return;
        const entities = Array.from({ length: data.count }, (_, i) => this.entityAt(data, i));
        try {
            const told: (string | null)[] = await call("backplane.names", { world: store.world, entities });
            told.forEach((name, i) => name !== null && this.names.set(entities[i], name));
        } catch {
            this.namesKey = "";
        }
        this.plan();
    }

    private entityAt(data: Points, i: number): number {
        return data.names[i * 2 + 1] * 4294967296 + data.names[i * 2];
    }

    private placeOf(entity: number): number {
        if (this.data === null || entity === 0)
            return -1;
        for (let i = 0; i < this.data.count; i++)
            if (this.data.names[i * 2] === entity % 4294967296 && this.entityAt(this.data, i) === entity)
                return i;
        return -1;
    }

    private positionOf(i: number): Vec3 {
        const p = this.data!.positions;
        return [p[i * 3], p[i * 3 + 1], p[i * 3 + 2]];
    }

    /* --- the camera ------------------------------------------------------------------------------------------------------------ */

    frameAll(): void {
        if (this.data === null || this.data.count === 0)
            return;
        const low: Vec3 = [Infinity, Infinity, Infinity], high: Vec3 = [-Infinity, -Infinity, -Infinity];
        const p = this.data.positions;
        for (let i = 0; i < p.length; i++) {
            const axis = i % 3;
            if (p[i] < low[axis])
                low[axis] = p[i];
            if (p[i] > high[axis])
                high[axis] = p[i];
        }
        if (low.every(Number.isFinite) && high.every(Number.isFinite))
            this.camera.frame(low, high);
        this.plan();
    }

    /** The selected entity in the middle. */
    centre(): void {
        const at = this.placeOf(store.selection);
        if (at >= 0)
            this.camera.target = this.positionOf(at);
        this.plan();
    }

    private press(down: PointerEvent): void {
        this.stage.setPointerCapture(down.pointerId);
        let last = down, moved = 0;
        const move = (event: PointerEvent) => {
            const dx = event.clientX - last.clientX, dy = event.clientY - last.clientY;
            moved += Math.abs(dx) + Math.abs(dy);
            last = event;
            if (this.camera.flat || event.shiftKey || down.button === 1)
                this.camera.pan(dx, dy);
            else
                this.camera.turn(dx, dy);
            this.move();
        };
        const up = (event: PointerEvent) => {
            this.stage.removeEventListener("pointermove", move);
            if (moved < 4 && event.type === "pointerup")
                this.pick(event);
        };
        this.stage.addEventListener("pointermove", move);
        this.stage.addEventListener("pointerup", up, { once: true });
        this.stage.addEventListener("pointercancel", up, { once: true });
    }

    /** The point nearest to a pixel, -1 where none is near. */
    private nearest(event: PointerEvent): number {
        const box = this.stage.getBoundingClientRect();
        const px = event.clientX - box.left, py = event.clientY - box.top;
        let best = -1, distance = 14 * 14;
        for (let i = 0; this.data !== null && i < this.data.count; i++) {
            const [x, y, front] = this.camera.project(this.data.positions.subarray(i * 3, i * 3 + 3));
            const d = (x - px) ** 2 + (y - py) ** 2;
            if (front && d < distance) {
                best = i;
                distance = d;
            }
        }
        return best;
    }

    private pick(event: PointerEvent): void {
        const at = this.nearest(event);
        if (at >= 0)
            document.dispatchEvent(new CustomEvent("select-entity", { detail: this.entityAt(this.data!, at) }));
    }

    private hover(event: PointerEvent): void {
        if (event.buttons !== 0 || (this.data?.count ?? 0) > 20000)
            return;
        const at = this.nearest(event);
        this.stage.classList.toggle("pointing", at >= 0);
        if (at === this.hovered)
            return;
        this.hovered = at;
        this.plan();
    }

    private key(event: KeyboardEvent): void {
        const far = event.shiftKey ? 120 : 30;
        const turn = !this.camera.flat && !event.altKey;
        const move = (dx: number, dy: number) => () => (turn ? this.camera.turn(-dx / 3, -dy / 3) : this.camera.pan(dx, dy));
        const moves: Record<string, () => void> = {
            ArrowLeft: move(far, 0), ArrowRight: move(-far, 0), ArrowUp: move(0, far), ArrowDown: move(0, -far),
            "+": () => this.camera.zoom(1.25), "=": () => this.camera.zoom(1.25), "-": () => this.camera.zoom(0.8),
            PageUp: () => this.camera.zoom(2), PageDown: () => this.camera.zoom(0.5), Home: () => this.frameAll(),
            n: () => this.next(1), p: () => this.next(-1),
        };
        const action = moves[event.key];
        if (action === undefined || event.ctrlKey || event.metaKey)
            return;
        event.preventDefault();
        event.stopPropagation();
        action();
        this.move();
    }

    /** Select the next point, for users without a pointer. */
    private next(step: number): void {
        if (this.data === null || this.data.count === 0)
            return;
        const at = this.placeOf(store.selection);
        const next = at < 0 ? 0 : (at + step + this.data.count) % this.data.count;
        document.dispatchEvent(new CustomEvent("select-entity", { detail: this.entityAt(this.data, next) }));
    }

    /* --- drawing ------------------------------------------------------------------------------------------------------------------ */

    private resize(): void {
        const { clientWidth: width, clientHeight: height } = this.stage;
        if (width === 0 || height === 0)
            return;
        for (const canvas of [this.grid, this.canvas, this.labels]) {
            canvas.width = Math.round(width * devicePixelRatio);
            canvas.height = Math.round(height * devicePixelRatio);
        }
        this.camera.width = width;
        this.camera.height = height;
        if (this.data !== null && !this.framed)
            this.frameAll();
        this.plan();
        void this.run();
    }

    /** The camera has been moved by hand. While that goes on fewer points are drawn where all of them take too long (as they
     * do where a processor draws them); all come back as soon as it rests. */
    private move(): void {
        this.moved = performance.now();
        clearTimeout(this.settling);
        this.settling = window.setTimeout(() => { this.every = 1; this.plan(); }, RESTS);
        this.plan();
    }

    private adapt(): void {
        const now = performance.now(), since = now - this.drawn;
        this.drawn = now;
        if (now - this.moved > RESTS)
            this.every = 1;
        else if (since > SLOW && since < RESTS && (this.data?.count ?? 0) > 5000)
            this.every = Math.min(this.every * 2, 16); /* WebGL takes strides of 255 bytes at most */
    }

    private plan(): void {
        if (this.planned)
            return;
        this.planned = true;
        requestAnimationFrame(() => {
            this.planned = false;
            if (this.element.offsetParent === null)
                return;
            this.adapt();
            this.cloud?.draw(this.camera, this.look, devicePixelRatio, this.every);
            this.drawGrid();
            this.drawLabels();
            this.showStatus();
        });
    }

    private context(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
        const g = canvas.getContext("2d")!;
        g.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
        g.clearRect(0, 0, this.camera.width, this.camera.height);
        return g;
    }

    private unit(): string {
        const [component, property] = this.choice.position.split(" ")[0].split(/\.(?=[^.]*$)/);
        return store.field(component, property)?.unit ?? "";
    }

    private drawGrid(): void {
        const g = this.context(this.grid);
        const style = getComputedStyle(this.stage);
        const { width, height } = this.camera;
        g.font = "11px system-ui, sans-serif";
        g.strokeStyle = style.getPropertyValue("--grid");
        g.fillStyle = style.getPropertyValue("--dim");
        if (!this.camera.flat)
            return this.drawFloor(g);
        const low = this.camera.unproject(0, height), high = this.camera.unproject(width, 0);
        for (const [axis, most] of [[0, width / 90], [1, height / 60]] as const)
            for (const tick of ticks(low[axis], high[axis], most)) {
                const at = [this.camera.target[0], this.camera.target[1], 0];
                at[axis] = tick;
                const [x, y] = this.camera.project(at);
                g.lineWidth = tick === 0 ? 1.5 : 1;
                g.beginPath();
                g.moveTo(axis === 0 ? Math.round(x) + 0.5 : 0, axis === 0 ? 0 : Math.round(y) + 0.5);
                g.lineTo(axis === 0 ? Math.round(x) + 0.5 : width, axis === 0 ? height : Math.round(y) + 0.5);
                g.stroke();
                g.textAlign = axis === 0 ? "center" : "left";
                if (axis === 1 || x > 40 && x < width - 30)
                    g.fillText(formatNumber(tick, 6), axis === 0 ? x : 6, axis === 0 ? height - 6 : y - 4);
            }
        const unit = this.unit();
        g.textAlign = "right";
        g.fillText(unit === "" ? "x" : `x (${unit})`, width - 8, height - 6);
        g.textAlign = "left";
        g.fillText(unit === "" ? "y" : `y (${unit})`, 6, 14);
    }

    /** The plane z = 0 in three dimensions, as lines about the target. */
    private drawFloor(g: CanvasRenderingContext2D): void {
        const half = this.camera.scale * this.camera.height;
        const [tx, ty] = this.camera.target;
        const all = ticks(-half, half, 12);
        if (all.length < 2)
            return;
        const step = all[1] - all[0];
        const line = (a: Vec3, b: Vec3, strong: boolean) => {
            const [x0, y0, f0] = this.camera.project(a), [x1, y1, f1] = this.camera.project(b);
            if (!f0 || !f1)
                return;
            g.lineWidth = strong ? 1.5 : 1;
            g.beginPath();
            g.moveTo(x0, y0);
            g.lineTo(x1, y1);
            g.stroke();
        };
        const span = step * 8;
        const cx = Math.round(tx / step) * step, cy = Math.round(ty / step) * step;
        for (let i = -8; i <= 8; i++) {
            line([cx + i * step, cy - span, 0], [cx + i * step, cy + span, 0], Math.abs(cx + i * step) < step / 2);
            line([cx - span, cy + i * step, 0], [cx + span, cy + i * step, 0], Math.abs(cy + i * step) < step / 2);
        }
        this.drawAxes(g);
        g.textAlign = "left";
        g.fillText(`a square is ${formatNumber(step, 4)} ${this.unit()}`, 8, this.camera.height - 8);
    }

    private drawAxes(g: CanvasRenderingContext2D): void {
        const [r, u] = this.camera.axes();
        const x0 = this.camera.width - 44, y0 = this.camera.height - 40;
        ["#e4657a", "#2fbf8f", "#56b4e9"].forEach((colour, i) => {
            g.strokeStyle = g.fillStyle = colour;
            g.lineWidth = 1.5;
            g.beginPath();
            g.moveTo(x0, y0);
            g.lineTo(x0 + r[i] * 26, y0 - u[i] * 26);
            g.stroke();
            g.textAlign = "center";
            g.fillText("xyz"[i], x0 + r[i] * 34, y0 - u[i] * 34 + 4);
        });
        g.fillStyle = getComputedStyle(this.stage).getPropertyValue("--dim");
    }

    private drawLabels(): void {
        const g = this.context(this.labels);
        if (this.data === null)
            return;
        const style = getComputedStyle(this.stage);
        g.font = "12px system-ui, sans-serif";
        g.lineJoin = "round";
        g.textAlign = "left";
        const boxes: [number, number, number, number][] = [];
        const selected = this.placeOf(store.selection);
        const name = (i: number) => this.names.get(this.entityAt(this.data!, i)) ?? "";
        const write = (i: number, text: string, always: boolean) => {
            const [x, y, front] = this.camera.project(this.positionOf(i));
            if (!front || x < -50 || y < -20 || x > this.camera.width || y > this.camera.height + 20 || text === "")
                return;
            const box: [number, number, number, number] = [x + 8, y - 8, x + 12 + g.measureText(text).width, y + 8];
            if (!always && boxes.some((b) => box[0] < b[2] && b[0] < box[2] && box[1] < b[3] && b[1] < box[3]))
                return;
            boxes.push(box);
            g.strokeStyle = style.getPropertyValue("--stage");
            g.lineWidth = 3;
            g.strokeText(text, x + 10, y + 4);
            g.fillStyle = style.getPropertyValue("--strong");
            g.fillText(text, x + 10, y + 4);
        };
        if (selected >= 0)
            this.drawRing(g, selected, style.getPropertyValue("--accent"));
        if (this.hovered >= 0 && this.hovered < this.data.count)
            this.drawRing(g, this.hovered, style.getPropertyValue("--dim"));
        if (selected >= 0)
            write(selected, name(selected) || store.entity?.name || store.entity?.id || "", true);
        if (this.hovered >= 0 && this.hovered < this.data.count && this.hovered !== selected)
            write(this.hovered, name(this.hovered) || `#${this.data.names[this.hovered * 2]}:${this.data.names[this.hovered * 2 + 1]}`, true);
        for (let i = 0; this.choice.names && i < Math.min(300, this.data.count) && boxes.length < NAMED; i++)
            if (i !== selected && i !== this.hovered)
                write(i, name(i), false);
    }

    private drawRing(g: CanvasRenderingContext2D, i: number, colour: string): void {
        const [x, y, front] = this.camera.project(this.positionOf(i));
        if (!front)
            return;
        g.strokeStyle = colour;
        g.lineWidth = 2;
        g.beginPath();
        g.arc(x, y, Math.max(8, this.look.pixels + 3), 0, 7);
        g.stroke();
    }

    private showStatus(): void {
        const now = performance.now();
        this.frames = this.frames.filter((time) => now - time < 1000);
        if (this.data === null)
            return;
        const { count, all } = this.data;
        const thinned = all > MOST ? ` of ${formatCount(all)}; zoom in for more` : "";
        const trails = this.choice.trails && count > TRAIL_POINTS ? ` · trails up to ${TRAIL_POINTS} points` : "";
        setText(this.status, `${formatCount(count)} points${thinned}${trails}`);
    }
}
