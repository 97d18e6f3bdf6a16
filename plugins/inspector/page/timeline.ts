/* timeline.ts - the steps that the host remembers, as a line to drag along; hidden where the host remembers
 * none. */
import { call, RpcError } from "./rpc";
import { formatBytes, formatCount, h, setText } from "./dom";
import { store } from "./store";

export class Timeline {
    readonly element: HTMLElement;
    private range: HTMLInputElement;
    private text = h("span", { class: "mono dim" });
    private end: HTMLButtonElement;
    private wanted = -1;   /* where the line was dragged to; -1: nowhere */
    private going = false;

    constructor() {
        this.range = h("input", {
            type: "range", "aria-label": "step of the past", title: "drag to go back and forth; the world stands still meanwhile",
            on: { input: () => this.want(Number(this.range.value)) },
        });
        this.end = h("button", { type: "button", class: "plain", title: "to the last step that is remembered",
            on: { click: () => this.want(Number(this.range.max)) } }, "to the end");
        this.element = h("footer", { class: "timeline", hidden: true, "aria-label": "time line" }, this.range, this.text, this.end);
        for (const subject of ["worlds", "info", "link"] as const)
            store.on(subject, () => this.show());
    }

    private show(): void {
        const past = store.history;
        this.element.hidden = past === null || !store.there;
        if (past === null)
            return;
        this.range.disabled = this.end.disabled = store.info?.readOnly !== false;
        this.range.min = String(past.first);
        this.range.max = String(past.last);
        if (this.wanted < 0)
            this.range.value = String(past.now);
        this.end.hidden = past.now === past.last;
        setText(this.text, `${formatCount(past.now)} of ${formatCount(past.first)} … ${formatCount(past.last)} · ${formatBytes(past.bytes)}`);
    }

    /** Only the place that was wanted last counts; a world that runs is stopped first. */
    private want(step: number): void {
        this.wanted = step;
        if (!this.going)
            void this.go();
    }

    private async go(): Promise<void> {
        this.going = true;
        try {
            for (const world of store.worlds)
                if (!world.paused)
                    await call("backplane.pause", { world: world.name });
            while (this.wanted >= 0) {
                const step = this.wanted;
                store.history = await call("backplane.go", { step });
                if (this.wanted === step)
                    this.wanted = -1;
            }
        } catch (error) {
            this.wanted = -1;
            if (error instanceof RpcError)
                document.dispatchEvent(new CustomEvent("toast", { detail: error.message }));
        }
        this.going = false;
        this.show();
    }
}
