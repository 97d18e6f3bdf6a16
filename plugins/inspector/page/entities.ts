/* entities.ts - the entities of a world, as a tree and as a list: searched by name or by a condition.
 *
 * The server keeps the list (a set); the page asks for the rows in sight, a page of them at a time. In a tree the
 * children of a row are a list of the same kind, opened one by one: so the number of rows in sight is known without
 * reading all rows.
 */
import { call, RpcError } from "./rpc";
import { formatCount, h, icon, iconButton, ICONS, replace, setText } from "./dom";
import { setting, store } from "./store";
import { VirtualList } from "./virtual";

const PAGE = 100;
const ROW_HEIGHT = 24;

interface Row {
    entity: number;
    id: string;
    name?: string;
    gone?: boolean;
    children?: number;
}

/** Rows below one parent: the children of an entity, the roots, or a whole list. */
class Branch {
    pages = new Map<number, Row[] | "asked">();
    open: { index: number; branch: Branch }[] = [];
    before?: Branch; /* the same rows as they were, shown until they are read anew */

    constructor(public count: number, public parent: number, public depth: number) {}

    /** How many rows it has in sight, with all that is open below. */
    size(): number {
        return this.open.reduce((sum, item) => sum + item.branch.size(), this.count);
    }

    /** Which row stands at a place, counted from the first. */
    at(place: number): { branch: Branch; index: number } {
        let before = 0;
        for (const item of this.open) {
            const own = item.index + before;
            if (place <= own)
                break;
            const size = item.branch.size();
            if (place <= own + size)
                return item.branch.at(place - own - 1);
            before += size;
        }
        return { branch: this, index: place - before };
    }

    row(index: number): Row | undefined {
        const page = this.pages.get(Math.floor(index / PAGE));
        return Array.isArray(page) ? page[index % PAGE] : this.before?.row(index);
    }

    opened(index: number): Branch | undefined {
        return this.open.find((item) => item.index === index)?.branch;
    }
}

const asTree = setting("tree", true);

export class Entities {
    readonly element: HTMLElement;
    private list: VirtualList;
    private input: HTMLInputElement;
    private note: HTMLElement;
    private empty: HTMLElement;
    private count: HTMLElement;
    private own: HTMLButtonElement; /* the world itself, where it has components */
    private treeButton: HTMLButtonElement;
    private listButton: HTMLButtonElement;
    private root = new Branch(0, 0, 0);
    private set = 0;
    private wished = ""; /* what the rows in sight were asked for by */
    private tree = false;
    private active = 0; /* the row that the keyboard is at */
    private asking = 0;
    private timer = 0;

    constructor() {
        this.input = h("input", {
            class: "search", type: "search", placeholder: "name, or  body.mass > 2", "aria-label": "search by name or condition",
            spellcheck: "false", autocomplete: "off",
            on: { input: () => this.later(), keydown: (event: KeyboardEvent) => this.inSearch(event) },
        });
        this.note = h("div", { class: "note", role: "status" });
        this.count = h("span", { class: "dim count" });
        this.empty = h("div", { class: "empty", hidden: true });
        this.own = h("button", {
            type: "button", class: "own", hidden: true, title: "the components of the world itself",
            on: { click: () => store.select(store.current()?.own ?? 0) },
        });
        this.treeButton = h("button", { type: "button", title: "by parents", on: { click: () => this.setTree(true) } }, "Tree");
        this.listButton = h("button", { type: "button", title: "one after another", on: { click: () => this.setTree(false) } }, "List");
        this.list = new VirtualList(ROW_HEIGHT, (row, index) => this.draw(row, index), {
            role: "tree", "aria-label": "entities", on: undefined,
        });
        this.list.element.addEventListener("keydown", (event) => this.key(event));
        this.list.element.addEventListener("click", (event) => this.click(event));
        this.element = h("section", { class: "pane entities", "aria-label": "entities" },
            h("div", { class: "pane-head" }, h("h2", {}, "Entities"), this.count, h("span", { class: "fill" }),
                h("div", { class: "segmented" }, this.treeButton, this.listButton)),
            h("div", { class: "search-box" }, icon(ICONS.search), this.input,
                iconButton(ICONS.close, "clear the search", () => this.clear(), { class: "icon-button clear" })),
            this.note, this.own, this.empty, this.list.element);
        for (const subject of ["world", "worlds", "selection"] as const)
            store.on(subject, () => this.showOwn());
        store.on("world", () => this.find());
        store.on("types", () => this.list.plan());
        store.on("selection", () => this.list.plan());
        store.on("worlds", () => this.follow());
    }

    focusSearch(): void {
        this.input.focus();
        this.input.select();
    }

    focus(): void {
        this.list.element.focus();
    }

    search(text: string): void {
        this.input.value = text;
        void this.find();
    }

    private showOwn(): void {
        this.own.hidden = store.current()?.own === undefined;
        this.own.setAttribute("aria-pressed", String(store.ownSelected()));
        setText(this.own, `world ${store.world}`);
    }

    /* --- the set ---------------------------------------------------------------------------------------------------- */

    private later(): void {
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => void this.find(), 150);
    }

    private clear(): void {
        this.input.value = "";
        this.input.focus();
        void this.find();
    }

    private setTree(tree: boolean): void {
        asTree.set(tree);
        void this.find();
    }

    /** Is this a condition, or a part of a name? */
    private isCondition(text: string): boolean {
        return /[<>=~.(]|\b(and|or|not)\b/.test(text) || store.components.some((c) => c.name === text || c.type === text);
    }

    private wish(): any {
        const text = this.input.value.trim();
        const wish: any = { world: store.world, tree: asTree.get() && text === "" };
        if (text !== "")
            wish[this.isCondition(text) ? "where" : "name"] = text;
        return wish;
    }

    /** Make a set of what is wanted now, and show its beginning. */
    async find(): Promise<void> {
        const asking = ++this.asking;
        if (store.world === "")
            return this.show(null, "");
        try {
            let told = await call("backplane.find", this.wish());
            while (asking === this.asking) {
                this.show(told, "");
                if (told.built)
                    return;
                await new Promise((resolve) => setTimeout(resolve, 60));
                told = await call("backplane.progress", { set: told.set });
            }
        } catch (error) {
            if (asking === this.asking && error instanceof RpcError)
                this.show(null, error.message);
        }
    }

    private show(told: any, problem: string): void {
        const searched = this.input.value.trim() !== "";
        const tree = told?.tree === true;
        const fresh = told === null || told.set !== this.set || tree !== this.tree;
        this.treeButton.setAttribute("aria-pressed", String(asTree.get()));
        this.listButton.setAttribute("aria-pressed", String(!asTree.get()));
        setText(this.note, problem);
        this.note.classList.toggle("problem", problem !== "");
        if (told === null) {
            this.root = new Branch(0, 0, 0);
            this.set = 0;
        } else if (fresh) {
            this.keepPlace(() => {
                const before = this.root, same = this.wished === JSON.stringify(this.wish());
                this.root = new Branch(tree ? told.roots : told.count, 0, 0);
                if (same && tree === this.tree) {
                    before.before = undefined;
                    this.root.before = before;
                }
                this.wished = JSON.stringify(this.wish());
                this.set = told.set;
                this.tree = tree;
            });
        } else if (!tree && told.count !== this.root.count) {
            const last = Math.floor(this.root.count / PAGE);
            this.root.count = told.count;
            this.root.pages.delete(last);
        }
        const share = told !== null && !told.built ? ` · ${Math.floor(told.progress * 100)} %` : "";
        setText(this.count, told === null ? "" : formatCount(told.count) + share);
        this.explainEmpty(told !== null && told.built && told.count === 0 && problem === "", searched);
        this.list.setCount(this.root.size());
    }

    /** A new set of the same thing: what was open stays open, where it is still there. */
    private keepPlace(change: () => void): void {
        change();
        this.active = Math.min(this.active, Math.max(0, this.root.count - 1));
    }

    private explainEmpty(is: boolean, searched: boolean): void {
        this.empty.hidden = !is;
        this.list.element.hidden = is;
        if (!is)
            return;
        if (searched)
            replace(this.empty, h("p", {}, "No entity is like that."),
                h("p", { class: "dim" }, "A name may be a part of it. A condition reads ", h("code", {}, "body.mass > 2 and not mesh"), "."));
        else
            replace(this.empty, h("p", {}, "This world has no entities."),
                h("p", { class: "dim" }, "A scene brings some: ", h("code", {}, "scenes = FILE"), " below ", h("code", {}, `[world ${store.world}]`),
                    " in the ini; or a plugin creates them in a step."));
    }

    private lastCount = -1;
    private lastFind = 0;

    /** The world has more entities or fewer: look again, but not more often than every other second. */
    private follow(): void {
        const count = store.current()?.entities;
        if (count === undefined || count === this.lastCount || Date.now() - this.lastFind < 2000)
            return;
        const first = this.lastCount < 0;
        this.lastCount = count;
        this.lastFind = Date.now();
        if (!first && !this.tree)
            void this.find();
    }

    /* --- rows --------------------------------------------------------------------------------------------------------- */

    private async read(branch: Branch, page: number): Promise<void> {
        if (branch.pages.has(page))
            return;
        branch.pages.set(page, "asked");
        const params: any = { set: this.set, from: page * PAGE, count: PAGE };
        if (this.tree && branch.parent !== 0)
            params.parent = branch.parent;
        try {
            const told = await call(this.tree ? "backplane.children" : "backplane.rows", params);
            branch.pages.set(page, told.rows);
            if (branch.pages.size * PAGE >= branch.count)
                branch.before = undefined;
            this.list.plan();
        } catch (error) {
            branch.pages.delete(page);
            if (error instanceof RpcError && error.code === -23403)
                void this.find();
        }
    }

    private draw(element: HTMLDivElement, place: number): void {
        const { branch, index } = this.root.at(place);
        const row = branch.row(index);
        void this.read(branch, Math.floor(index / PAGE));
        element.dataset.place = String(place);
        element.style.paddingLeft = 8 + branch.depth * 14 + "px";
        element.classList.toggle("selected", row !== undefined && row.entity === store.selection);
        element.classList.toggle("active", place === this.active);
        element.classList.toggle("gone", row?.gone === true);
        element.setAttribute("aria-level", String(branch.depth + 1));
        element.setAttribute("aria-selected", String(row !== undefined && row.entity === store.selection));
        element.id = "entity-row-" + place;
        const has = (row?.children ?? 0) > 0;
        const open = branch.opened(index) !== undefined;
        if (has)
            element.setAttribute("aria-expanded", String(open));
        else
            element.removeAttribute("aria-expanded");
        this.fill(element, row, has, open);
    }

    private fill(element: HTMLDivElement, row: Row | undefined, has: boolean, open: boolean): void {
        const key = row === undefined ? "" : `${row.entity} ${row.name} ${row.children} ${open} ${row.gone}`;
        if (element.dataset.key === key)
            return;
        element.dataset.key = key;
        if (row === undefined) {
            replace(element, h("span", { class: "twist" }), h("span", { class: "placeholder" }));
            return;
        }
        const twist = h("span", { class: has ? "twist has" + (open ? " open" : "") : "twist" });
        if (has)
            twist.append(icon(ICONS.chevron));
        replace(element, this.tree ? twist : null, h("span", { class: "label" + (row.name ? "" : " dim") }, row.name ?? "entity"),
            has ? h("span", { class: "dim small" }, formatCount(row.children!)) : null, h("span", { class: "fill" }),
            h("span", { class: "dim small mono" }, row.id));
    }

    /* --- hands ---------------------------------------------------------------------------------------------------------- */

    private toggle(place: number, open?: boolean): void {
        const { branch, index } = this.root.at(place);
        const row = branch.row(index);
        const at = branch.open.findIndex((item) => item.index === index);
        if (row === undefined || !row.children || !this.tree)
            return;
        if (at >= 0 && open !== true)
            branch.open.splice(at, 1);
        else if (at < 0 && open !== false) {
            branch.open.push({ index, branch: new Branch(row.children, row.entity, branch.depth + 1) });
            branch.open.sort((a, b) => a.index - b.index);
        }
        this.list.setCount(this.root.size());
    }

    private move(place: number): void {
        this.active = Math.max(0, Math.min(this.root.size() - 1, place));
        this.list.element.setAttribute("aria-activedescendant", "entity-row-" + this.active);
        this.list.show(this.active);
        this.list.plan();
        this.choose(this.active);
    }

    private choose(place: number): void {
        const { branch, index } = this.root.at(place);
        const row = branch.row(index);
        if (row !== undefined)
            store.select(row.entity);
    }

    private click(event: MouseEvent): void {
        const element = (event.target as Element).closest<HTMLElement>(".row");
        if (element === null)
            return;
        const place = Number(element.dataset.place);
        if ((event.target as Element).closest(".twist.has") !== null)
            this.toggle(place);
        else
            this.move(place);
    }

    /** To the parent of a row, where it has one. */
    private outwards(place: number): void {
        const { branch } = this.root.at(place);
        if (branch.opened(this.root.at(place).index) !== undefined)
            return this.toggle(place, false);
        for (let above = place - 1; above >= 0; above--)
            if (this.root.at(above).branch.depth < branch.depth)
                return this.move(above);
    }

    private key(event: KeyboardEvent): void {
        const moves: Record<string, () => void> = {
            ArrowDown: () => this.move(this.active + 1),
            ArrowUp: () => this.move(this.active - 1),
            PageDown: () => this.move(this.active + this.list.visible),
            PageUp: () => this.move(this.active - this.list.visible),
            Home: () => this.move(0),
            End: () => this.move(this.root.size() - 1),
            ArrowRight: () => this.toggle(this.active, true),
            ArrowLeft: () => this.outwards(this.active),
            Enter: () => document.querySelector<HTMLElement>(".panels input, .panels button")?.focus(),
        };
        const move = moves[event.key];
        if (move === undefined || event.ctrlKey || event.metaKey || event.altKey)
            return;
        event.preventDefault();
        move();
    }

    private inSearch(event: KeyboardEvent): void {
        if (event.key === "Escape")
            this.clear();
        else if (event.key === "ArrowDown" || event.key === "Enter") {
            event.preventDefault();
            this.focus();
            this.move(0);
        }
    }

    /** Open the tree down to an entity that was selected elsewhere, and show it. */
    async reveal(entity: number): Promise<void> {
        if (!this.tree || this.set === 0)
            return;
        try {
            const above: number[] = await call("backplane.ancestors", { set: this.set, entity });
            let branch = this.root;
            for (const one of above) {
                const found = [...branch.pages.values()].flatMap((page) => (Array.isArray(page) ? page : [])).find((row) => row.entity === one);
                if (found === undefined)
                    return;
                const index = [...branch.pages.entries()].flatMap(([page, rows]) =>
                    Array.isArray(rows) ? rows.map((row, i) => [row.entity, page * PAGE + i]) : []).find(([e]) => e === one)![1];
                if (branch.opened(index) === undefined) {
                    branch.open.push({ index, branch: new Branch(found.children ?? 0, one, branch.depth + 1) });
                    branch.open.sort((a, b) => a.index - b.index);
                }
                branch = branch.opened(index)!;
                await this.read(branch, 0);
            }
            this.list.setCount(this.root.size());
        } catch {
            /* the set has gone; the next one shows it */
        }
    }
}
