/* systems.ts - what runs in a step, in its order: time, rows, and what may run side by side. */
import { formatCount, formatSeconds, h, icon, ICONS, replace, setText } from "./dom";
import { call } from "./rpc";
import { store } from "./store";

export interface Unit {
    name: string;
    plugin: string;
    kind: string;
    doc?: string;
    steps: number;
    seconds: number; /* in all steps together */
    rows: number;
    segment: number; /* units of one segment may run side by side */
    parallel?: boolean;
    concurrent?: boolean;
    aside?: boolean; /* its plugin has crashed */
    reads?: string[]; /* component.field, or a component of which it touches more than fields */
    writes?: string[];
    waits_for?: { unit: string; because_of?: string }[];
}

/** What a unit took lately: seconds of the last steps, and how many those were. */
interface Lately {
    steps: number;
    seconds: number;
    mean: number;
    past: number[];
}

/** What a rank has of a world that several ranks share. A corner that is "inf" or "-inf" is without end. */
interface Part {
    rank: number;
    step: number;
    entities: number;
    copies: number;
    sent: number;
    low: (number | string)[];
    high: (number | string)[];
}

const PAST = 60;

export class Systems {
    readonly element: HTMLElement;
    private body = h("tbody", {});
    private note = h("p", { class: "dim" });
    private table: HTMLElement;
    private ranks = h("div", { class: "ranks", hidden: true });
    private empty = h("div", { class: "empty", hidden: true });
    private timer = 0;
    private lately = new Map<string, Lately>();
    private shape = "";
    private cells = new Map<string, { time: HTMLElement; bar: HTMLElement; rows: HTMLElement; line: HTMLCanvasElement }>();

    constructor() {
        const head = ["", "Unit", "Time a step", "", "Last minute", "Rows", "Group"];
        this.table = h("table", { class: "systems" }, h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))), this.body);
        this.element = h("div", { class: "tab-body scroll" }, this.note, this.table, this.empty, this.ranks);
        store.on("world", () => { this.lately.clear(); this.shape = ""; void this.read(); });
    }

    shown(is: boolean): void {
        clearInterval(this.timer);
        if (!is)
            return;
        void this.read();
        this.timer = window.setInterval(() => void this.read(), 500);
    }

    private async read(): Promise<void> {
        if (!store.there || store.world === "" || this.element.offsetParent === null)
            return;
        try {
            this.show(await call("backplane.systems", { world: store.world }));
            this.showRanks(await call("backplane.ranks", { world: store.world }));
        } catch {
            /* the link says so */
        }
    }

    private show(units: Unit[]): void {
        this.empty.hidden = units.length > 0;
        this.table.hidden = units.length === 0;
        if (units.length === 0)
            replace(this.empty, h("p", {}, "Nothing runs in the steps of this world."),
                h("p", { class: "dim" }, "Name systems below ", h("code", {}, `[world ${store.world}]`), " in the ini: ", h("code", {}, "systems = gravity"), "."));
        const shape = units.map((unit) => [unit.name, unit.plugin, unit.segment, unit.aside, unit.reads, unit.writes, unit.waits_for?.length].join()).join(";");
        if (shape !== this.shape) {
            this.shape = shape;
            this.build(units);
        }
        const means = units.map((unit) => this.remember(unit));
        const sum = means.reduce((a, b) => a + b, 0);
        const most = Math.max(...means, 1e-12);
        units.forEach((unit, i) => this.write(unit, means[i], most, sum));
        setText(this.note, units.length === 0 ? "" : `${units.length} units in the order of a step, ${formatSeconds(sum)} together`);
    }

    /** The ranks that share the world, when they last compared. */
    private showRanks(parts: Part[]): void {
        this.ranks.hidden = parts.length === 0;
        if (parts.length === 0)
            return;
        const side = (at: number | string) => typeof at === "string" ? at.replace("inf", "∞") : at.toPrecision(4);
        const range = (part: Part, axis: number) => `${side(part.low[axis])} … ${side(part.high[axis])}`;
        const head = ["Rank", "Entities", "Copies", "Bytes sent", "x", "y", "z"];
        replace(this.ranks, h("p", { class: "dim" }, `${parts.length} ranks share this world; as of step ${formatCount(parts[0].step)}`),
            h("table", { class: "systems" }, h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))),
                h("tbody", {}, ...parts.map((part) => h("tr", { "data-rank": part.rank }, h("th", { scope: "row" }, part.rank),
                    ...[part.entities, part.copies, part.sent].map((count) => h("td", { class: "number mono" }, formatCount(count))),
                    ...[0, 1, 2].map((axis) => h("td", { class: "mono" }, range(part, axis))))))));
    }

    /** Seconds a step, of the steps since the last look. */
    private remember(unit: Unit): number {
        const before = this.lately.get(unit.name);
        const steps = unit.steps - (before?.steps ?? 0), seconds = unit.seconds - (before?.seconds ?? 0);
        const mean = steps > 0 ? seconds / steps : before?.mean ?? 0;
        const past = before?.past ?? [];
        if (steps > 0 && before !== undefined)
            past.push(mean);
        past.splice(0, Math.max(0, past.length - PAST * 2));
        this.lately.set(unit.name, { steps: unit.steps, seconds: unit.seconds, mean, past });
        return mean;
    }

    private build(units: Unit[]): void {
        this.cells.clear();
        replace(this.body, ...units.map((unit, i) => {
            const time = h("td", { class: "number mono" }), bar = h("i", {}), rows = h("td", { class: "number mono" });
            const line = h("canvas", { class: "spark", width: 80, height: 22, "aria-hidden": "true" });
            this.cells.set(unit.name, { time, bar, rows, line });
            const row = h("tr", { "data-unit": unit.name, tabindex: 0 },
                h("td", { class: "dim number" }, i + 1),
                h("th", { scope: "row", title: unit.doc ?? "" }, unit.name, h("div", { class: "dim small" }, unit.plugin, ": ", unit.kind,
                    unit.parallel ? ", in ranges" : "", unit.concurrent ? ", beside others" : "",
                    unit.aside ? h("span", { class: "badge bad" }, "set aside") : null), this.touches(unit)),
                time, h("td", { class: "share" }, bar), h("td", {}, line), rows,
                h("td", { class: "dim number", title: "units of one group may run side by side" }, unit.segment + 1));
            return row;
        }));
    }

    /** What the unit reads and writes, and the earlier units that it must not overtake, folded away. */
    private touches(unit: Unit): HTMLElement | null {
        const line = (what: string, names: (HTMLElement | string)[]) => names.length === 0 ? null :
            h("div", { class: "brings" }, h("span", { class: "dim small" }, what), ...names.map((name) => h("span", { class: "chip " + what }, name)));
        const waits = (unit.waits_for ?? []).map((wait) => wait.because_of ? `${wait.unit} (${wait.because_of})` : wait.unit);
        const lines = [line("reads", unit.reads ?? []), line("writes", unit.writes ?? []), line("waits for", waits)].filter((each) => each !== null);
        return lines.length === 0 ? null : h("details", { class: "touches" }, h("summary", {}, icon(ICONS.chevron), waits.length === 0 ? "touches" : `touches, waits for ${waits.length}`), ...lines);
    }

    private write(unit: Unit, mean: number, most: number, sum: number): void {
        const cells = this.cells.get(unit.name)!;
        setText(cells.time, formatSeconds(mean));
        cells.bar.style.width = mean / most * 100 + "%";
        cells.bar.title = Math.round(mean / Math.max(sum, 1e-12) * 100) + " % of the step";
        setText(cells.rows, formatCount(unit.rows));
        this.spark(cells.line, this.lately.get(unit.name)!.past);
    }

    private spark(canvas: HTMLCanvasElement, past: number[]): void {
        const g = canvas.getContext("2d")!;
        const most = Math.max(...past, 1e-12);
        g.clearRect(0, 0, canvas.width, canvas.height);
        g.strokeStyle = getComputedStyle(canvas).getPropertyValue("--accent");
        g.lineWidth = 1.5;
        g.beginPath();
        past.forEach((value, i) => g.lineTo(canvas.width - (past.length - 1 - i) * canvas.width / (PAST * 2), canvas.height - 2 - value / most * (canvas.height - 4)));
        g.stroke();
    }
}
