/* plugins.ts - the plugins: what each brings, what was reloaded when and what became of each field, and who crashed where. */
import { formatSeconds, h, icon, ICONS, replace } from "./dom";
import { call, RpcError } from "./rpc";
import { store } from "./store";

interface Change {
    component: string;
    field: string;
    former?: string;
    what: string;
    from?: string;
    to?: string;
}

interface Reload {
    at: number; /* seconds since 1970 */
    step?: number;
    plugins?: string[];
    fine: boolean;
    text: string;
    pause?: number;
    rows?: number;
    fields?: Change[];
}

interface Plugin {
    name: string;
    version: string;
    doc?: string;
    path?: string;
    components: string[];
    systems: string[];
    options?: { name: string; value: string; doc?: string; unit?: string }[];
    crash?: string;
    reloads?: Reload[];
}

export class Plugins {
    readonly element: HTMLElement;
    private list = h("div", { class: "plugin-list" });
    private last = "";
    private timer = 0;
    private failures = new Map<string, string>();

    constructor() {
        this.element = h("div", { class: "tab-body scroll" }, this.list);
        store.on("info", () => void this.read());
        store.on("plugins", () => void this.read());
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
            const plugins: Plugin[] = await call("backplane.plugins");
            const text = JSON.stringify(plugins) + JSON.stringify([...this.failures]);
            if (text === this.last)
                return;
            this.last = text;
            this.keepFocus(() => replace(this.list, ...plugins.map((plugin) => this.card(plugin))));
        } catch {
            /* the link says so */
        }
    }

    private keepFocus(change: () => void): void {
        const key = (document.activeElement as HTMLElement | null)?.dataset.plugin;
        change();
        if (key !== undefined)
            this.list.querySelector<HTMLElement>(`[data-plugin="${CSS.escape(key)}"]`)?.focus();
    }

    private card(plugin: Plugin): HTMLElement {
        const reload: HTMLButtonElement = h("button", {
            type: "button", class: "plain", disabled: store.info?.reload === false || store.info?.readOnly === true || !plugin.path, "data-plugin": plugin.name,
            title: plugin.path ? "load its file again, its values kept" : "linked into the program; it has no file",
            on: { click: () => void this.reload(plugin.name, reload) },
        }, icon(ICONS.reload), "reload");
        const failure = this.failures.get(plugin.name);
        return h("article", { class: "card" + (plugin.crash ? " crashed" : "") },
            h("header", {}, h("h3", {}, plugin.name), h("span", { class: "dim mono small" }, plugin.version),
                plugin.crash ? h("span", { class: "badge bad" }, "set aside") : null, h("span", { class: "fill" }), reload),
            plugin.doc ? h("p", { class: "dim" }, plugin.doc) : null,
            plugin.crash ? h("div", { class: "problem", role: "alert" }, h("p", {}, "It crashed, and is not called any more:"), h("pre", {}, plugin.crash),
                h("p", { class: "dim" }, "Mend it, build it, and reload it; the world goes on meanwhile.")) : null,
            failure !== undefined ? h("div", { class: "problem", role: "alert" }, h("pre", {}, failure)) : null,
            this.brings("components", plugin.components), this.brings("systems", plugin.systems), this.options(plugin), this.history(plugin.reloads ?? []),
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

    private history(reloads: Reload[]): HTMLElement | null {
        if (reloads.length === 0)
            return null;
        return h("div", { class: "reloads" }, ...[...reloads].reverse().map((reload, i) =>
            h("details", { open: i === 0, class: reload.fine ? "" : "bad" },
                h("summary", {}, icon(ICONS.chevron), h("span", { class: "badge " + (reload.fine ? "good" : "bad") }, reload.fine ? "reloaded" : "refused"),
                    new Date(reload.at * 1000).toLocaleTimeString(),
                    reload.fine && reload.pause !== undefined ? h("span", { class: "dim" }, ` pause ${formatSeconds(reload.pause)}, ${reload.rows} rows`) : null),
                (reload.fields ?? []).length === 0 ? h("pre", {}, reload.text) : this.changes(reload.fields!))));
    }

    private changes(fields: Change[]): HTMLElement {
        const words = (change: Change) => {
            const type = change.from && change.to && change.from !== change.to ? `${change.from} → ${change.to}` : change.to ?? change.from ?? "";
            return change.former ? `${type}, was ${change.former}` : type;
        };
        return h("table", { class: "changes" }, h("tbody", {}, ...fields.map((change) =>
            h("tr", { class: change.what }, h("td", {}, h("span", { class: "badge " + change.what }, change.what)),
                h("th", { scope: "row" }, `${change.component}.${change.field}`), h("td", { class: "dim" }, words(change))))));
    }

    private async reload(name: string, button: HTMLButtonElement): Promise<void> {
        button.disabled = true;
        this.failures.delete(name);
        try {
            await call("backplane.reload", { plugins: [name] });
        } catch (error) {
            if (error instanceof RpcError)
                this.failures.set(name, error.message);
        }
        this.last = "";
        void store.readAll();
        void this.read();
    }
}
