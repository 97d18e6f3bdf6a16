/* rpc.ts - the server, as functions: calls, the stream, and points.
 *
 * Calls of one moment go as one batch, so that they share a connection: a browser keeps six to a server. There is one
 * stream for the whole page; what it tells is changed by backplane.rewatch. When the server goes away, calls fail with
 * Offline, and the stream is tried anew until it is back.
 */

export class RpcError extends Error {
    constructor(public code: number, message: string) {
        super(message);
    }
}

export class Offline extends Error {}

interface Waiting {
    id: number;
    method: string;
    params: object;
    resolve: (value: any) => void;
    reject: (why: Error) => void;
}

let next = 1;
let queue: Waiting[] = [];
let flushing = false;

export function token(): string {
    const given = new URLSearchParams(location.hash.slice(1)).get("token") ?? new URLSearchParams(location.search).get("token");
    if (given !== null)
        sessionStorage.setItem("token", given);
    return sessionStorage.getItem("token") ?? "";
}

export function setToken(value: string): void {
    sessionStorage.setItem("token", value);
}

function headers(): HeadersInit {
    const own: Record<string, string> = { "Content-Type": "application/json" };
    if (token() !== "")
        own["Authorization"] = "Bearer " + token();
    return own;
}

async function post(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
    let response: Response;
    try {
        response = await fetch(path, { method: "POST", headers: headers(), body: JSON.stringify(body), signal });
    } catch (error) {
        if (signal?.aborted)
            throw error;
        throw new Offline("the host does not answer");
    }
    if (response.ok)
        return response;
    const text = (await response.text()).trim();
    throw response.status === 503 ? new Offline(text) : new RpcError(response.status, text);
}

async function flush(): Promise<void> {
    flushing = false;
    const sent = queue;
    queue = [];
    try {
        const response = await post("/", sent.map(({ id, method, params }) => ({ jsonrpc: "2.0", id, method, params })));
        const answers = new Map<number, any>();
        for (const answer of await response.json())
            answers.set(answer.id, answer);
        for (const call of sent) {
            const answer = answers.get(call.id);
            if (answer === undefined)
                call.reject(new RpcError(-32603, "the server left this call without an answer"));
            else if (answer.error !== undefined)
                call.reject(new RpcError(answer.error.code, answer.error.message));
            else
                call.resolve(answer.result);
        }
    } catch (error) {
        for (const call of sent)
            call.reject(error as Error);
    }
}

export function call(method: string, params: object = {}): Promise<any> {
    return new Promise((resolve, reject) => {
        queue.push({ id: next++, method, params, resolve, reject });
        if (!flushing) {
            flushing = true;
            queueMicrotask(flush);
        }
    });
}

/** Bytes for the view of the world. */
export async function points(params: object, signal?: AbortSignal): Promise<ArrayBuffer> {
    return (await post("/points", params, signal)).arrayBuffer();
}

/** The stream: `wish` says what it is to tell when it begins, `event` takes what it tells, `state` whether it is there. */
export class Stream {
    private abort: AbortController | null = null;
    private id = 0;
    private wanted = "";
    private stopped = false;

    constructor(private wish: () => object, private event: (result: any) => void, private state: (there: boolean, why: string) => void) {}

    start(): void {
        this.stopped = false;
        void this.run();
    }

    stop(): void {
        this.stopped = true;
        this.abort?.abort();
    }

    /** The wish has changed: send it to the server. */
    async rewatch(): Promise<void> {
        const wish = this.wish();
        const text = JSON.stringify(wish);
        if (this.id === 0 || text === this.wanted)
            return;
        this.wanted = text;
        try {
            await call("backplane.rewatch", { watch: this.id, ...wish });
        } catch (error) {
            if (error instanceof RpcError)
                this.event({ refused: error.message });
        }
    }

    private async run(): Promise<void> {
        while (!this.stopped) {
            let why = "the host has ended, or is held by a debugger";
            try {
                await this.read();
            } catch (error) {
                why = (error as Error).message;
                if (error instanceof RpcError && error.code === 401)
                    why = "token";
            }
            this.id = 0;
            if (this.stopped)
                return;
            this.state(false, why);
            await new Promise((resolve) => setTimeout(resolve, 1000));
        }
    }

    private async read(): Promise<void> {
        this.abort = new AbortController();
        const wish = this.wish();
        this.wanted = JSON.stringify(wish);
        const response = await post("/", { jsonrpc: "2.0", id: 0, method: "backplane.watch+watch", params: wish }, this.abort.signal);
        if (!(response.headers.get("Content-Type") ?? "").startsWith("text/event-stream")) {
            const answer = await response.json();
            throw new RpcError(answer.error?.code ?? 0, answer.error?.message ?? "no stream");
        }
        const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
        let text = "";
        for (;;) {
            const { done, value } = await reader.read();
            if (done)
                return;
            text += value;
            for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
                this.take(text.slice(0, end));
                text = text.slice(end + 2);
            }
        }
    }

    private take(text: string): void {
        if (!text.startsWith("data:"))
            return;
        const answer = JSON.parse(text.slice(5));
        if (answer.error !== undefined)
            throw new RpcError(answer.error.code, answer.error.message);
        if (this.id === 0) {
            this.id = answer.result.watch;
            this.state(true, "");
            void this.rewatch();
        }
        this.event(answer.result);
    }
}
