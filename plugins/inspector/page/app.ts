/* app.ts - the page put together: panes, tabs, and keys that work everywhere. */
import { Bar } from "./bar";
import { Curves } from "./curves";
import { append, h } from "./dom";
import { Entities } from "./entities";
import { Panels } from "./panels";
import { Plugins } from "./plugins";
import { setting, store } from "./store";
import { Systems } from "./systems";
import { Timeline } from "./timeline";
import { View } from "./view";

const KEYS: [string, string][] = [
    ["space", "run or pause"], ["s", "one step"], ["/", "search"], ["e", "the list of entities"], ["v", "the view"],
    ["d", "the values of the selected entity"], ["1 … 4", "View, Curves, Systems, Plugins"],
    ["f", "show the selected entity, or everything"], ["t", "dark or light"], ["?", "this page"],
    ["arrows", "in the list: up, down, open, close; in the view: move or turn"], ["+ −", "in the view: nearer, farther"],
    ["n p", "in the view: the next point, the one before"],
    ["arrows", "in a number: more, less; with shift ten times, with alt a tenth; on the time line: a step back, a step on"], ["Esc", "take back what was typed"],
];

const tab = setting("tab", "view");
const widths = setting("widths", { left: 280, right: 340 });

function helpDialog(): HTMLDialogElement {
    const dialog = h("dialog", { class: "help", "aria-label": "keys and help" });
    append(dialog, [
        h("header", {}, h("h2", {}, "Keys"), h("span", { class: "fill" }),
            h("button", { type: "button", class: "plain", on: { click: () => dialog.close() } }, "close")),
        h("dl", {}, ...KEYS.flatMap(([key, what]) =>
            [h("dt", {}, ...key.split(" ").map((k) => h("kbd", {}, k))), h("dd", {}, what)])),
        h("h2", {}, "Search"),
        h("p", {}, "A part of a name, or a condition:"),
        h("pre", {}, "body.mass > 2\nlength(body.velocity) >= 0.01 and not transform\n" +
            "name.name ~ \"moon\" or body.position.x < -1.5"),
        h("p", { class: "dim" }, "docs/inspector.md has a tour, docs/protocol.md every method behind this page."),
    ]);
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    return dialog;
}

/** A line between panes that can be dragged, or moved by arrow keys. */
function splitter(side: "left" | "right"): HTMLElement {
    const set = (width: number) => {
        const value = Math.max(200, Math.min(window.innerWidth / 2 - 100, width));
        widths.set({ ...widths.get(), [side]: value });
        document.documentElement.style.setProperty("--" + side, value + "px");
    };
    set(widths.get()[side]);
    const sign = side === "left" ? 1 : -1;
    const element = h("div", {
        class: "splitter", role: "separator", tabindex: 0, "aria-orientation": "vertical", "aria-label": `width of the ${side} pane`,
    });
    element.addEventListener("pointerdown", (down) => {
        element.setPointerCapture(down.pointerId);
        const begin = widths.get()[side];
        const move = (event: PointerEvent) => set(begin + sign * (event.clientX - down.clientX));
        element.addEventListener("pointermove", move);
        element.addEventListener("pointerup", () => element.removeEventListener("pointermove", move), { once: true });
    });
    element.addEventListener("keydown", (event) => {
        const step = event.key === "ArrowLeft" ? -16 : event.key === "ArrowRight" ? 16 : 0;
        if (step !== 0) {
            event.preventDefault();
            set(widths.get()[side] + sign * step);
        }
    });
    return element;
}

class App {
    private entities = new Entities();
    private view = new View();
    private curves = new Curves();
    private systems = new Systems();
    private plugins = new Plugins();
    private timeline = new Timeline();
    private help = helpDialog();
    private bar = new Bar(() => this.help.showModal());
    private panels = new Panels(() => this.frameSelected());
    private toast = h("div", { class: "toast", role: "alert", hidden: true });
    private tabs: Record<string, { label: string; element: HTMLElement; shown?: (is: boolean) => void }>;
    private tabButtons = new Map<string, HTMLButtonElement>();
    private tabBody = h("div", { class: "tabs-body", role: "tabpanel" });

    constructor() {
        this.tabs = {
            view: { label: "View", element: this.view.element, shown: () => void this.view.run() },
            curves: { label: "Curves", element: this.curves.element },
            systems: { label: "Systems", element: this.systems.element, shown: (is) => this.systems.shown(is) },
            plugins: { label: "Plugins", element: this.plugins.element, shown: (is) => this.plugins.shown(is) },
        };
        const bar = h("div", { class: "tabs", role: "tablist", on: { keydown: (event: KeyboardEvent) => this.tabKey(event) } });
        for (const [name, { label }] of Object.entries(this.tabs)) {
            const button = h("button", { type: "button", role: "tab", id: "tab-" + name, on: { click: () => this.open(name) } }, label);
            this.tabButtons.set(name, button);
            bar.append(button);
        }
        append(document.body, [
            this.bar.element,
            h("main", { class: "panes" }, this.entities.element, splitter("left"),
                h("section", { class: "pane middle" }, bar, this.tabBody), splitter("right"), this.panels.element),
            this.timeline.element, this.toast, this.help,
        ]);
        this.open(tab.get() in this.tabs ? tab.get() : "view");
        this.listen();
        store.start();
    }

    private open(name: string): void {
        tab.set(name);
        for (const [other, button] of this.tabButtons) {
            button.setAttribute("aria-selected", String(other === name));
            button.tabIndex = other === name ? 0 : -1;
        }
        this.tabBody.replaceChildren(this.tabs[name].element);
        this.tabBody.setAttribute("aria-labelledby", "tab-" + name);
        for (const [other, { shown }] of Object.entries(this.tabs))
            shown?.(other === name);
    }

    private tabKey(event: KeyboardEvent): void {
        const names = Object.keys(this.tabs);
        const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (step === 0)
            return;
        const next = names[(names.indexOf(tab.get()) + step + names.length) % names.length];
        this.open(next);
        this.tabButtons.get(next)!.focus();
    }

    private frameSelected(): void {
        this.open("view");
        if (store.selection !== 0)
            this.view.centre();
        else
            this.view.frameAll();
    }

    private say(text: string): void {
        this.toast.textContent = text;
        this.toast.hidden = false;
        setTimeout(() => { this.toast.hidden = true; }, 5000);
    }

    private listen(): void {
        document.addEventListener("show-tab", (event) => this.open((event as CustomEvent).detail));
        document.addEventListener("toast", (event) => this.say((event as CustomEvent).detail));
        document.addEventListener("select-entity", (event) => {
            store.select((event as CustomEvent).detail);
            void this.entities.reveal((event as CustomEvent).detail);
        });
        document.addEventListener("keydown", (event) => this.key(event));
    }

    private key(event: KeyboardEvent): void {
        const target = event.target as HTMLElement;
        const typing = target.closest("input, select, textarea") !== null;
        if (typing && event.key === "Escape")
            target.blur();
        if (typing || event.ctrlKey || event.metaKey || event.altKey || this.help.open)
            return;
        const names = Object.keys(this.tabs);
        const actions: Record<string, () => void> = {
            " ": () => void this.bar.toggle(), s: () => void this.bar.take(), "/": () => this.entities.focusSearch(),
            e: () => this.entities.focus(), f: () => this.frameSelected(), t: () => this.bar.flipTheme(),
            v: () => { this.open("view"); this.view.element.querySelector<HTMLElement>(".stage")?.focus(); },
            d: () => document.querySelector<HTMLElement>(".panels input:not([readonly])")?.focus(),
            "?": () => this.help.showModal(),
            "1": () => this.open(names[0]), "2": () => this.open(names[1]), "3": () => this.open(names[2]), "4": () => this.open(names[3]),
        };
        const action = actions[event.key];
        if (action === undefined || (event.key === " " && target.closest("button, summary") !== null))
            return;
        event.preventDefault();
        action();
    }
}

new App();
