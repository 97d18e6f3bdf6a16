/* virtual.ts - a list of any number of rows of one height, of which only those in sight exist.
 *
 * A browser cannot scroll beyond some 16 million pixels; a list that would be higher is given that height, and a place in it
 * is taken as a share of the whole. Rows are elements that are used over and over.
 */
import { h } from "./dom";

const HIGHEST = 8_000_000;

export class VirtualList {
    readonly element: HTMLDivElement;
    private space: HTMLDivElement;
    private window: HTMLDivElement;
    private rows: HTMLDivElement[] = [];
    private count = 0;
    private planned = false;

    constructor(private rowHeight: number, private draw: (row: HTMLDivElement, index: number) => void, attributes: object) {
        this.window = h("div", { class: "virtual-window" });
        this.space = h("div", { class: "virtual-space" }, this.window);
        this.element = h("div", { class: "virtual", tabindex: 0, ...attributes, on: { scroll: () => this.plan() } }, this.space);
        new ResizeObserver(() => this.plan()).observe(this.element);
    }

    get visible(): number {
        return Math.max(1, Math.floor(this.element.clientHeight / this.rowHeight));
    }

    setCount(count: number): void {
        this.count = count;
        this.space.style.height = Math.min(HIGHEST, count * this.rowHeight) + "px";
        this.plan();
    }

    /** Rows that lie below each pixel of the scroll bar: 1 / rowHeight, unless the list is too high for that. */
    private first(): number {
        const height = Math.min(HIGHEST, this.count * this.rowHeight);
        const most = height - this.element.clientHeight;
        if (this.count * this.rowHeight <= HIGHEST || most <= 0)
            return this.element.scrollTop / this.rowHeight;
        return this.element.scrollTop / most * (this.count - this.element.clientHeight / this.rowHeight);
    }

    /** Scroll as little as shows the row. */
    show(index: number): void {
        const first = this.first();
        const visible = this.element.clientHeight / this.rowHeight;
        if (index >= first && index + 1 <= first + visible)
            return;
        const wanted = index < first ? index : index + 1 - visible;
        const height = Math.min(HIGHEST, this.count * this.rowHeight);
        this.element.scrollTop = this.count * this.rowHeight <= HIGHEST ? wanted * this.rowHeight
            : wanted / (this.count - visible) * (height - this.element.clientHeight);
        this.plan();
    }

    /** Draw all rows in sight before the next picture. */
    plan(): void {
        if (this.planned)
            return;
        this.planned = true;
        requestAnimationFrame(() => {
            this.planned = false;
            this.drawAll();
        });
    }

    private drawAll(): void {
        const first = this.first();
        const begin = Math.max(0, Math.floor(first));
        const number = Math.min(this.count - begin, Math.ceil(this.element.clientHeight / this.rowHeight) + 1);
        while (this.rows.length < number) {
            const row = h("div", { class: "row", role: "treeitem" });
            this.rows.push(row);
            this.window.append(row);
        }
        this.window.style.transform = `translateY(${this.element.scrollTop - (first - begin) * this.rowHeight}px)`;
        this.rows.forEach((row, i) => {
            row.hidden = i >= number;
            if (i < number)
                this.draw(row, begin + i);
        });
    }
}
