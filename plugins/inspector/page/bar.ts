/* bar.ts - the bar on top: worlds, run and pause, step, speed, clock, link, theme. */
import { call, RpcError, setToken } from "./rpc";
import { formatCount, formatNumber, formatSeconds, h, icon, iconButton, ICONS, replace, setText } from "./dom";
import { setting, store } from "./store";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100];
const theme = setting<"dark" | "light" | "">("theme", "");

export class Bar {
    readonly element: HTMLElement;
    private worlds = h("div", { class: "segmented worlds", role: "group", "aria-label": "worlds" });
    private run: HTMLButtonElement;
    private step: HTMLButtonElement;
    private steps: HTMLInputElement;
    private speed: HTMLSelectElement;
    private clock = h("span", { class: "clock mono", title: "steps done, and the world's time" });
    private pace = h("span", { class: "pace dim", title: "steps a second, and what one takes" });
    private link = h("span", { class: "link-state", role: "status" });
    private themeButton: HTMLButtonElement;
    private known = "";
    private paused = false;

    constructor(help: () => void) {
        this.run = iconButton(ICONS.pause, "pause (space)", () => void this.toggle(), { class: "icon-button transport" });
        this.step = iconButton(ICONS.step, "one step (s)", () => void this.take(), { class: "icon-button transport" });
        this.steps = h("input", { type: "number", class: "steps", min: 1, max: 1000000, value: 1, title: "steps that a step takes", "aria-label": "number of steps" });
        this.speed = h("select", { "aria-label": "speed", title: "speed", on: { change: () => void this.command("backplane.speed", { speed: Number(this.speed.value) }) } },
            ...SPEEDS.map((speed) => h("option", { value: speed }, speed + "×")));
        this.speed.value = "1";
        this.themeButton = iconButton(ICONS.sun, "dark or light (t)", () => this.flipTheme());
        this.element = h("header", { class: "bar" },
            h("div", { class: "brand" }, h("img", { src: "/icon.svg", alt: "", width: 20, height: 20 }), h("h1", {}, "Backplane")),
            this.worlds,
            h("div", { class: "transports", role: "group", "aria-label": "pace" }, this.run, this.step, this.steps, this.speed),
            this.clock, this.pace, h("span", { class: "fill" }), this.link, this.themeButton,
            iconButton(ICONS.help, "keys and help (?)", help));
        store.on("worlds", () => this.show());
        store.on("world", () => this.show());
        store.on("info", () => this.show());
        store.on("link", () => this.showLink());
        this.applyTheme();
        this.showLink();
    }

    /* --- theme ----------------------------------------------------------------------------------------------------------- */

    private isLight(): boolean {
        return theme.get() === "light" || theme.get() === "" && matchMedia("(prefers-color-scheme: light)").matches;
    }

    flipTheme(): void {
        theme.set(this.isLight() ? "dark" : "light");
        this.applyTheme();
    }

    private applyTheme(): void {
        document.documentElement.dataset.theme = this.isLight() ? "light" : "dark";
        replace(this.themeButton, icon(this.isLight() ? ICONS.moon : ICONS.sun));
        store.tell("theme");
    }

    /* --- pace -------------------------------------------------------------------------------------------------------------- */

    private async command(method: string, params: object = {}): Promise<void> {
        try {
            await call(method, { world: store.world, ...params });
        } catch (error) {
            if (error instanceof RpcError)
                document.dispatchEvent(new CustomEvent("toast", { detail: error.message }));
        }
    }

    async toggle(): Promise<void> {
        await this.command(this.paused ? "backplane.run" : "backplane.pause");
    }

    async take(): Promise<void> {
        await this.command("backplane.step", { steps: Math.max(1, Number(this.steps.value) || 1) });
    }

    /* --- what it shows ------------------------------------------------------------------------------------------------------- */

    private show(): void {
        const names = store.worlds.map((world) => world.name).join("\n") + store.world;
        if (names !== this.known) {
            this.known = names;
            replace(this.worlds, ...store.worlds.map((world) => h("button", {
                type: "button", "aria-pressed": String(world.name === store.world), on: { click: () => store.setWorld(world.name) },
            }, world.name)));
        }
        const can = store.info?.readOnly === false && store.there;
        for (const control of [this.run, this.step, this.steps, this.speed])
            control.disabled = !can;
        const world = store.current();
        if (world === undefined) {
            setText(this.clock, store.there ? "no world" : "");
            setText(this.pace, "");
            return;
        }
        if ((world.paused === true) !== this.paused || this.run.dataset.known !== "1") {
            this.paused = world.paused === true;
            this.run.dataset.known = "1";
            replace(this.run, icon(this.paused ? ICONS.run : ICONS.pause));
            this.run.title = this.paused ? "run (space)" : "pause (space)";
            this.run.setAttribute("aria-label", this.paused ? "run" : "pause");
            this.element.classList.toggle("paused", this.paused);
        }
        if (world.speed !== undefined && document.activeElement !== this.speed) {
            if (this.speed.querySelector(`option[value="${world.speed}"]`) === null)
                this.speed.append(h("option", { value: world.speed }, formatNumber(world.speed, 3) + "×"));
            this.speed.value = String(world.speed);
        }
        setText(this.clock, `step ${formatCount(world.step)} · time ${formatNumber(world.time, 6)}`);
        setText(this.pace, (world.rate !== undefined ? `${formatNumber(world.rate, 3)} steps/s` : "") +
            (world.seconds !== undefined ? ` · ${formatSeconds(world.seconds)}` : ""));
    }

    private showLink(): void {
        this.element.classList.toggle("offline", !store.there);
        if (store.there)
            replace(this.link);
        else if (store.why === "token")
            this.askToken();
        else
            replace(this.link, h("span", { class: "badge bad" }, "not connected"), h("span", { class: "dim" }, " trying again …"));
        this.show();
    }

    private askToken(): void {
        if (this.link.querySelector("input") !== null)
            return;
        const input = h("input", { type: "password", placeholder: "token", "aria-label": "token", autocomplete: "off" });
        replace(this.link, h("form", { on: { submit: (event: Event) => { event.preventDefault(); setToken(input.value); replace(this.link); } } },
            h("span", {}, "This host asks for its token: "), input));
        input.focus();
    }
}
