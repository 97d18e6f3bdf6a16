/* curves.ts - properties against the world's time, one plot for each unit.
 *
 * Each series keeps its last 40,000 samples. A plot is drawn on a canvas, at most once a picture; where there are more
 * samples than pixels, the least and the largest of each pixel are drawn, so that no peak is lost.
 */
import { formatNumber, h, iconButton, ICONS, replace } from "./dom";
import { setting, store, Watched } from "./store";

const KEPT = 40_000;
export const COLOURS = ["#56b4e9", "#e69f00", "#2fbf8f", "#e4657a", "#b48ef0", "#d9c94f", "#7b8cff", "#f08a4b", "#8bd450", "#c9d1d9"];
const WINDOWS: [string, number][] = [["10 s", 10], ["60 s", 60], ["10 min", 600], ["all", Infinity]];
const shown = setting("window", 1);

class Series {
    times = new Float64Array(1024);
    clock = new Float64Array(1024); /* seconds since the page was opened */
    values = new Float64Array(1024);
    count = 0;

    constructor(public watched: Watched, public colour: string) {}

    add(time: number, clock: number, value: number): void {
        if (this.count > 0 && time < this.times[this.count - 1])
            this.count = 0; /* the world has gone back */
        if (this.count > 0 && time === this.times[this.count - 1]) {
            this.values[this.count - 1] = value;
            this.clock[this.count - 1] = clock;
            return;
        }
        if (this.count === KEPT)
            this.drop(KEPT / 4);
        if (this.count === this.times.length)
            this.grow();
        this.times[this.count] = time;
        this.clock[this.count] = clock;
        this.values[this.count++] = value;
    }

    private drop(number: number): void {
        for (const list of [this.times, this.clock, this.values])
            list.copyWithin(0, number, this.count);
        this.count -= number;
    }

    private grow(): void {
        const larger = (list: Float64Array) => {
            const grown = new Float64Array(Math.min(KEPT, list.length * 2));
            grown.set(list);
            return grown;
        };
        this.times = larger(this.times);
        this.clock = larger(this.clock);
        this.values = larger(this.values);
    }

    /** The first sample that is not older than this, by the page's clock. */
    from(clock: number): number {
        let low = 0, high = this.count;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.clock[middle] < clock)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }
}

/** Round steps: 1, 2 or 5 times a power of ten. */
export function ticks(low: number, high: number, most: number): number[] {
    const rough = (high - low) / Math.max(1, most);
    if (!(rough > 0) || !Number.isFinite(rough))
        return [];
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((factor) => factor * power >= rough)! * power;
    const found: number[] = [];
    for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step)
        found.push(Math.abs(at) < step * 1e-9 ? 0 : Number(at.toPrecision(12)));
    return found;
}

class Plot {
    readonly element: HTMLElement;
    private canvas: HTMLCanvasElement;
    private legend: HTMLElement;
    private pointer: number | null = null;
    private cells = new Map<Series, HTMLElement>();

    constructor(private unit: string, public series: Series[], private window: () => number) {
        this.canvas = h("canvas", { class: "plot-canvas", tabindex: 0, role: "img", "aria-label": `curves${unit === "" ? "" : " in " + unit}` });
        this.legend = h("div", { class: "legend" });
        this.element = h("figure", { class: "plot" }, this.legend, this.canvas);
        this.canvas.addEventListener("pointermove", (event) => { this.pointer = event.offsetX; this.draw(); });
        this.canvas.addEventListener("pointerleave", () => { this.pointer = null; this.draw(); });
        this.canvas.addEventListener("keydown", (event) => this.key(event));
        this.canvas.addEventListener("blur", () => { this.pointer = null; this.draw(); });
        new ResizeObserver(() => this.draw()).observe(this.canvas);
        this.buildLegend();
    }

    private key(event: KeyboardEvent): void {
        const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (step === 0)
            return;
        event.preventDefault();
        this.pointer = Math.max(60, Math.min(this.canvas.clientWidth - 12, (this.pointer ?? this.canvas.clientWidth / 2) + step * (event.shiftKey ? 20 : 4)));
        this.draw();
    }

    private buildLegend(): void {
        replace(this.legend);
        for (const series of this.series) {
            const value = h("span", { class: "mono value" });
            const swatch = h("span", { class: "swatch" });
            swatch.style.background = series.colour;
            this.cells.set(series, value);
            this.legend.append(h("span", { class: "key" }, swatch, h("span", { class: "label" }, series.watched.label), value,
                iconButton(ICONS.close, `remove the curve of ${series.watched.label}`, () => store.unwatch(series.watched), { class: "icon-button small" })));
        }
    }

    private area(): { left: number; top: number; right: number; bottom: number } {
        return { left: 64, top: 8, right: this.canvas.clientWidth - 12, bottom: this.canvas.clientHeight - 22 };
    }

    private extent(first: Map<Series, number>): [number, number, number, number] {
        let begin = Infinity, end = -Infinity, low = Infinity, high = -Infinity;
        for (const series of this.series) {
            const from = first.get(series)!;
            if (from >= series.count)
                continue;
            begin = Math.min(begin, series.times[from]);
            end = Math.max(end, series.times[series.count - 1]);
            for (let i = from; i < series.count; i++) {
                const value = series.values[i];
                if (value < low)
                    low = value;
                if (value > high)
                    high = value;
            }
        }
        const margin = (high - low) * 0.06 || Math.abs(high) * 0.01 || 1;
        return [begin, end > begin ? end : begin + 1, low - margin, high + margin];
    }

    draw(): void {
        const { clientWidth: width, clientHeight: height } = this.canvas;
        const ratio = devicePixelRatio;
        if (width === 0 || height === 0)
            return;
        if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
            this.canvas.width = Math.round(width * ratio);
            this.canvas.height = Math.round(height * ratio);
        }
        const g = this.canvas.getContext("2d")!;
        g.setTransform(ratio, 0, 0, ratio, 0, 0);
        g.clearRect(0, 0, width, height);
        const since = performance.now() / 1000 - this.window();
        const first = new Map(this.series.map((series) => [series, series.from(since)]));
        const [begin, end, low, high] = this.extent(first);
        if (!Number.isFinite(begin) || !Number.isFinite(low))
            return;
        const { left, top, right, bottom } = this.area();
        const x = (time: number) => left + (time - begin) / (end - begin) * (right - left);
        const y = (value: number) => bottom - (value - low) / (high - low) * (bottom - top);
        this.drawGrid(g, x, y, [begin, end, low, high]);
        for (const series of this.series)
            this.drawSeries(g, series, first.get(series)!, x, y, right - left);
        this.drawPointer(g, x, y, begin, end);
    }

    private drawGrid(g: CanvasRenderingContext2D, x: (t: number) => number, y: (v: number) => number, [begin, end, low, high]: number[]): void {
        const { left, top, right, bottom } = this.area();
        const style = getComputedStyle(this.element);
        g.strokeStyle = style.getPropertyValue("--grid");
        g.fillStyle = style.getPropertyValue("--dim");
        g.font = "11px system-ui, sans-serif";
        g.lineWidth = 1;
        g.textBaseline = "middle";
        g.textAlign = "right";
        for (const tick of ticks(low, high, (bottom - top) / 32)) {
            const at = Math.round(y(tick)) + 0.5;
            g.beginPath();
            g.moveTo(left, at);
            g.lineTo(right, at);
            g.stroke();
            g.fillText(formatNumber(tick, 5), left - 6, at);
        }
        g.textBaseline = "alphabetic";
        g.textAlign = "center";
        for (const tick of ticks(begin, end, (right - left) / 90)) {
            const at = Math.round(x(tick)) + 0.5;
            g.beginPath();
            g.moveTo(at, top);
            g.lineTo(at, bottom);
            g.stroke();
            g.fillText(formatNumber(tick, 6), at, bottom + 15);
        }
        g.strokeStyle = style.getPropertyValue("--border");
        g.strokeRect(left + 0.5, top + 0.5, right - left, bottom - top);
    }

    private drawSeries(g: CanvasRenderingContext2D, series: Series, from: number, x: (t: number) => number, y: (v: number) => number, width: number): void {
        const count = series.count - from;
        g.strokeStyle = series.colour;
        g.lineWidth = 1.5;
        g.lineJoin = "round";
        g.beginPath();
        const group = Math.max(1, Math.floor(count / (width * 2)));
        for (let i = from; i < series.count; i += group) {
            let least = i, largest = i;
            for (let j = i + 1; j < Math.min(series.count, i + group); j++) {
                if (series.values[j] < series.values[least])
                    least = j;
                if (series.values[j] > series.values[largest])
                    largest = j;
            }
            const a = Math.min(least, largest), b = Math.max(least, largest);
            g.lineTo(x(series.times[a]), y(series.values[a]));
            if (b !== a)
                g.lineTo(x(series.times[b]), y(series.values[b]));
        }
        g.stroke();
    }

    /** The values under the pointer, or the last ones, beside the names. */
    private drawPointer(g: CanvasRenderingContext2D, x: (t: number) => number, y: (v: number) => number, begin: number, end: number): void {
        const { left, top, right, bottom } = this.area();
        const time = this.pointer === null ? end : begin + (this.pointer - left) / (right - left) * (end - begin);
        if (this.pointer !== null && this.pointer >= left && this.pointer <= right) {
            g.strokeStyle = getComputedStyle(this.element).getPropertyValue("--dim");
            g.beginPath();
            g.moveTo(this.pointer, top);
            g.lineTo(this.pointer, bottom);
            g.stroke();
        }
        for (const series of this.series) {
            let at = series.count - 1;
            while (at > 0 && series.times[at] > time)
                at--;
            const cell = this.cells.get(series)!;
            cell.textContent = at < 0 ? "" : formatNumber(series.values[at], 6) + (this.unit === "" ? "" : " " + this.unit);
            if (this.pointer === null || at < 0)
                continue;
            g.fillStyle = series.colour;
            g.beginPath();
            g.arc(x(series.times[at]), y(series.values[at]), 3, 0, 7);
            g.fill();
        }
    }
}

export class Curves {
    readonly element: HTMLElement;
    private area: HTMLElement;
    private buttons: HTMLButtonElement[];
    private series: Series[] = [];
    private plots: Plot[] = [];
    private planned = false;
    private used = 0;

    constructor() {
        this.area = h("div", { class: "plots" });
        this.buttons = WINDOWS.map(([name], i) => h("button", { type: "button", on: { click: () => this.setWindow(i) } }, name));
        this.element = h("div", { class: "tab-body curves" },
            h("div", { class: "tool-bar" }, h("div", { class: "segmented", role: "group", "aria-label": "how much time is shown" }, ...this.buttons),
                h("span", { class: "fill" }), h("button", { type: "button", class: "plain", on: { click: () => this.clear() } }, "remove all")),
            this.area);
        store.on("watched", () => this.rebuild());
        store.on("values", () => this.take());
        store.on("theme", () => this.plan());
        this.setWindow(shown.get());
        this.rebuild();
    }

    private setWindow(index: number): void {
        shown.set(index);
        this.buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === index)));
        this.plan();
    }

    private clear(): void {
        for (const watched of [...store.watched])
            store.unwatch(watched);
    }

    private rebuild(): void {
        this.series = store.watched.map((watched) => this.series.find((s) => s.watched === watched) ??
            new Series(watched, COLOURS[this.used++ % COLOURS.length]));
        const units = [...new Set(this.series.map((s) => s.watched.unit))];
        this.plots = units.map((unit) => new Plot(unit, this.series.filter((s) => s.watched.unit === unit), () => WINDOWS[shown.get()][1]));
        replace(this.area, ...this.plots.map((plot) => plot.element));
        if (this.plots.length === 0)
            replace(this.area, h("div", { class: "empty" }, h("p", {}, "No curves yet."),
                h("p", { class: "dim" }, "Select an entity; the wave beside a property draws it here, against the world's time.")));
        this.plan();
    }

    private take(): void {
        const world = store.current();
        if (world === undefined || store.values.length !== this.series.length)
            return;
        const clock = performance.now() / 1000;
        this.series.forEach((series, i) => {
            const value = store.values[i];
            if (typeof value === "number" || typeof value === "boolean")
                series.add(world.time, clock, Number(value));
        });
        this.plan();
    }

    private plan(): void {
        if (this.planned || this.element.offsetParent === null)
            return;
        this.planned = true;
        requestAnimationFrame(() => {
            this.planned = false;
            for (const plot of this.plots)
                plot.draw();
        });
    }
}
