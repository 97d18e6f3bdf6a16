/* plugins.ts - the last reloads with the result for each field, and the plugins: what each brings, its options, and
 * where it crashed. */
import { h, icon, ICONS, replace } from "./dom";
import { call } from "./rpc";
import { store } from "./store";

interface Plugin {
    name: string;
    version: string;
    doc?: string;
    path?: string;
    components: string[];
    systems: string[];
    options?: { name: string; value: string; doc?: string; unit?: string }[];
    crash?: string;
}

interface Reload {
    number: number;
    done: boolean; /* else it was refused, or taken back */
    when: number;  /* seconds since 1970 */
    pause: number; /* seconds */
    text: string;
}

export class Plugins {
    readonly element: HTMLElement;
    private list = h("div", { class: "plugin-list" });
    private last = "";
    private timer = 0;

    constructor() {
        this.element = h("div", { class: "tab-body scroll" }, this.list);
        store.on("info", () => void this.read());
    }

    shown(is: boolean): void {
        clearInterval(this.timer);
        if (!is)
            return;
        void this.read();
        this.timer = window.setInterval(() => void this.read(), 1000);
    }

    private async read(): Promise<void> {
        if (!store.there || this.element.offsetParent === null)
            return;
        try {
            const [plugins, reloads]: [Plugin[], Reload[]] = await Promise.all([call("backplane.plugins"), call("backplane.reloads")]);
            const text = JSON.stringify([plugins, reloads]);
            if (text === this.last)
                return;
            this.last = text;
            replace(this.list, this.reloads(reloads), ...plugins.map((plugin) => this.card(plugin)));
        } catch {
            /* the link says so */
        }
    }

    /** The latest reload open, earlier ones folded; the first line of a report says what it is about. */
    private reloads(reloads: Reload[]): HTMLElement | null {
        if (reloads.length === 0)
            return null;
        return h("article", { class: "card reloads" }, h("header", {}, h("h3", {}, "Reloads")),
            ...reloads.map((reload, i) => {
                const [first, ...rest] = reload.text.split("\n");
                const time = new Date(reload.when * 1000).toLocaleTimeString();
                return h("details", { open: i === 0 }, h("summary", {}, icon(ICONS.chevron), h("span", { class: "dim mono small" }, time), " ", first,
                    reload.done ? null : h("span", { class: "badge bad" }, "not done")), h("pre", { class: "small" }, rest.join("\n")));
            }));
    }

    private card(plugin: Plugin): HTMLElement {
        return h("article", { class: "card" + (plugin.crash ? " crashed" : "") },
            h("header", {}, h("h3", {}, plugin.name), h("span", { class: "dim mono small" }, plugin.version),
                plugin.crash ? h("span", { class: "badge bad" }, "set aside") : null),
            plugin.doc ? h("p", { class: "dim" }, plugin.doc) : null,
            plugin.crash ? h("div", { class: "problem", role: "alert" }, h("p", {}, "It crashed, and is not called any more:"), h("pre", {}, plugin.crash),
                h("p", { class: "dim" }, "Mend it and build it; where the ini says hot_reload = on it comes in again by itself. The world goes on meanwhile.")) : null,
            this.brings("components", plugin.components), this.brings("systems", plugin.systems), this.options(plugin),
            plugin.path ? h("p", { class: "dim small mono path" }, plugin.path) : null);
    }

    private brings(what: string, names: string[]): HTMLElement | null {
        return names.length === 0 ? null : h("div", { class: "brings" }, h("span", { class: "dim small" }, what),
            ...names.map((name) => h("span", { class: "chip" }, name)));
    }

    private options(plugin: Plugin): HTMLElement | null {
        if ((plugin.options ?? []).length === 0)
            return null;
        return h("details", {}, h("summary", {}, icon(ICONS.chevron), `${plugin.options!.length} options`),
            h("table", { class: "options" }, h("tbody", {}, ...plugin.options!.map((option) =>
                h("tr", { title: option.doc ?? "" }, h("th", { scope: "row" }, option.name), h("td", { class: "mono" }, option.value),
                    h("td", { class: "dim" }, option.unit ?? ""))))));
    }
}
