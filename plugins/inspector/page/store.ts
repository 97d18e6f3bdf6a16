/* store.ts - the state of the page, and the listeners that are told when it changes.
 *
 * One object, one list of listeners for each subject. What the user has set stays in the browser (localStorage): theme,
 * widths, what the view shows.
 */
import { call, RpcError, Stream } from "./rpc";

export interface Field {
    name: string;
    type: string;
    parts: number;
    unit?: string;
    doc?: string;
    initial?: string;
    min?: string;
    max?: string;
    readOnly?: boolean;
    parent?: boolean;
    label?: boolean;
    values?: string; /* names of a whole number's values: "idle=3 walking" */
}

export interface Type {
    type: string;
    doc?: string;
    plugin?: string;
    fields: Field[];
}

export interface World {
    name: string;
    step: number;
    time: number;
    dt: number;
    entities?: number;
    own?: number; /* the entity that bears the components of the world itself, where it has some */
    paused?: boolean;
    speed?: number;
    spent?: number; /* seconds, in all steps together */
    seconds?: number; /* a step, of late */
    rate?: number; /* steps a second, of late */
}

export interface Component {
    name: string;
    type: string;
    component: string;
    count: number;
    values?: Record<string, any>;
}

export interface Entity {
    entity: number;
    id: string;
    name?: string;
    gone?: boolean;
    components: Component[];
}

/** The steps that the host remembers, and where it is among them. */
export interface History {
    first: number;
    now: number;
    last: number;
    bytes: number;
}

export interface Info {
    inspector: string;
    readOnly: boolean;
    history: History | null;
    worlds: World[];
}

/** A property of an entity that a curve shows over time. */
export interface Watched {
    entity: number;
    property: string; /* component.property, with a part where it has some */
    label: string;
    unit: string;
}

type Subject = "info" | "worlds" | "world" | "types" | "selection" | "entity" | "values" | "theme" | "watched" | "link" | "view";

class Store {
    info: Info | null = null;
    history: History | null = null;
    worlds: World[] = [];
    world = "";
    types = new Map<string, Type>();
    components: Component[] = [];
    selection = 0;
    entity: Entity | null = null;
    entityProblem = "";
    watched: Watched[] = [];
    values: any[] = [];
    there = false;
    why = "";
    everyMs = 100;
    private revision = 0;
    private lately = new Map<string, { at: number; step: number; spent: number; seconds?: number; rate?: number }>();
    private listeners = new Map<Subject, ((...args: any[]) => void)[]>();
    private stream = new Stream(() => this.wish(), (event) => this.take(event), (there, why) => this.link(there, why));

    on(subject: Subject, listener: () => void): void {
        const list = this.listeners.get(subject) ?? [];
        list.push(listener);
        this.listeners.set(subject, list);
    }

    tell(subject: Subject): void {
        for (const listener of this.listeners.get(subject) ?? [])
            listener();
    }

    start(): void {
        this.stream.start();
        document.addEventListener("visibilitychange", () => {
            if (document.hidden)
                this.stream.stop();
            else
                this.stream.start();
        });
    }

    current(): World | undefined {
        return this.worlds.find((world) => world.name === this.world);
    }

    /** Is what is selected the world itself? */
    ownSelected(): boolean {
        return this.selection !== 0 && this.selection === this.current()?.own;
    }

    /** The declaration of a property, by the component as the entity or the world names it. */
    field(component: string, property: string): Field | undefined {
        const found = this.components.find((c) => c.name === component || c.component === component || c.type === component);
        return this.types.get(found?.type ?? component)?.fields.find((f) => f.name === property);
    }

    setWorld(name: string): void {
        if (name === this.world)
            return;
        this.world = name;
        this.selection = 0;
        this.entity = null;
        this.watched = [];
        this.values = [];
        void this.readTypes();
        this.tell("world");
        this.tell("selection");
        this.tell("entity");
        this.tell("watched");
        void this.stream.rewatch();
    }

    select(entity: number): void {
        if (entity === this.selection)
            return;
        this.selection = entity;
        this.entity = null;
        this.entityProblem = "";
        this.tell("selection");
        this.tell("entity");
        void this.stream.rewatch();
    }

    watch(item: Watched): void {
        if (this.watched.some((w) => w.entity === item.entity && w.property === item.property))
            return;
        this.watched.push(item);
        this.values.push(null);
        this.tell("watched");
        void this.stream.rewatch();
    }

    unwatch(item: Watched): void {
        const at = this.watched.indexOf(item);
        if (at < 0)
            return;
        this.watched.splice(at, 1);
        this.values.splice(at, 1);
        this.tell("watched");
        void this.stream.rewatch();
    }

    private wish(): object {
        const wish: any = { every_ms: this.everyMs };
        if (this.world !== "")
            wish.world = this.world;
        if (this.selection !== 0)
            wish.entity = this.selection;
        if (this.watched.length > 0)
            wish.values = this.watched.map(({ entity, property }) => ({ entity, property }));
        return wish;
    }

    private link(there: boolean, why: string): void {
        this.there = there;
        this.why = why;
        if (there)
            void this.readAll();
        this.tell("link");
    }

    private take(event: any): void {
        if (event.refused !== undefined) {
            this.selection = 0;
            this.entityProblem = event.refused;
            this.tell("selection");
            this.tell("entity");
            void this.stream.rewatch();
            return;
        }
        if (event.revision !== undefined && event.revision !== this.revision) {
            const first = this.revision === 0;
            this.revision = event.revision;
            if (!first)
                void this.readAll();
        }
        if (event.history !== undefined)
            this.history = event.history;
        if (event.worlds !== undefined) {
            this.worlds = event.worlds;
            this.worlds.forEach((world) => this.measure(world));
            this.tell("worlds");
        }
        if (event.entity !== undefined) {
            this.entity = event.entity;
            this.tell("entity");
        }
        if (event.values !== undefined && event.values.length === this.watched.length)
            this.values = event.values;
        this.tell("values");
    }

    /** Steps a second, and what one takes, from what a second has brought. */
    private measure(world: World): void {
        const now = performance.now(), before = this.lately.get(world.name);
        const fresh = { at: now, step: world.step, spent: world.spent ?? 0, seconds: before?.seconds, rate: before?.rate };
        if (before === undefined || world.step < before.step)
            this.lately.set(world.name, { ...fresh, seconds: undefined, rate: undefined });
        else if (now - before.at >= 1000) {
            const steps = world.step - before.step;
            fresh.rate = steps / (now - before.at) * 1000;
            fresh.seconds = steps > 0 ? (fresh.spent - before.spent) / steps : before.seconds;
            this.lately.set(world.name, fresh);
        }
        world.rate = this.lately.get(world.name)?.rate;
        world.seconds = this.lately.get(world.name)?.seconds;
    }

    /** Everything that is asked for once: at the beginning, and after a reload. */
    async readAll(): Promise<void> {
        try {
            const info: Info = await call("backplane.info");
            this.info = info;
            this.history = info.history;
            this.worlds = info.worlds;
            if (this.world === "" || !this.worlds.some((world) => world.name === this.world))
                this.world = this.worlds[0]?.name ?? "";
            await this.readTypes();
            this.tell("info");
            this.tell("worlds");
            this.tell("world");
            this.tell("types");
            this.tell("entity");
            void this.stream.rewatch();
        } catch (error) {
            if (error instanceof RpcError)
                console.warn(error.message);
        }
    }

    /** Fields have their units as the world calls them. */
    async readTypes(): Promise<void> {
        const of = this.world === "" ? {} : { world: this.world };
        const [types, components] = await Promise.all([call("backplane.types", of), this.world === "" ? [] : call("backplane.components", of)]);
        this.types = new Map(types.map((type: Type) => [type.type, type]));
        this.components = components;
        this.tell("types");
    }
}

export const store = new Store();

/** What the user has set, by name; kept in the browser. */
export function setting<T>(name: string, initial: T): { get: () => T; set: (value: T) => void } {
    let value = initial;
    try {
        const kept = localStorage.getItem("backplane." + name);
        if (kept !== null)
            value = JSON.parse(kept) as T;
    } catch {
        value = initial;
    }
    return {
        get: () => value,
        set: (given: T) => {
            value = given;
            try {
                localStorage.setItem("backplane." + name, JSON.stringify(given));
            } catch {
                /* the browser keeps nothing: it is forgotten with the page */
            }
        },
    };
}
