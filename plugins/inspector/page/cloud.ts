/* cloud.ts - points and their trails on the GPU (WebGL 2).
 *
 * One buffer a column, as the server sends them. A trail is the positions of earlier answers: rows of one buffer, written in
 * turn; a line from each row to the next is drawn for all points in one call.
 */
import { Camera } from "./camera";

export interface Points {
    count: number;
    all: number;
    step: number;
    time: number;
    parts: number;
    positions: Float32Array;
    colours: Float32Array;
    sizes: Float32Array;
    names: Uint32Array; /* index and generation, in turn */
}

/** The bytes of an answer of /points, looked at where they lie. */
export function readPoints(buffer: ArrayBuffer): Points {
    const head = new DataView(buffer);
    const count = head.getUint32(4, true);
    return {
        count, all: head.getUint32(8, true), step: head.getFloat64(12, true), time: head.getFloat64(20, true), parts: head.getUint32(28, true),
        positions: new Float32Array(buffer, 32, count * 3),
        colours: new Float32Array(buffer, 32 + count * 12, count),
        sizes: new Float32Array(buffer, 32 + count * 16, count),
        names: new Uint32Array(buffer, 32 + count * 20, count * 2),
    };
}

export interface Look {
    mode: number;               /* 0: one colour, 1: by value, 2: each its own */
    accent: [number, number, number];
    range: [number, number];    /* of the colour's values, as the shader has them */
    logarithmic: boolean;
    sizeRange: [number, number];
    sizeLogarithmic: boolean;
    sized: boolean;
    pixels: number;
    alpha: number;
}

const COMMON = `#version 300 es
precision highp float;
uniform mat4 u_matrix;
uniform vec3 u_target;
uniform vec2 u_range;
uniform int u_mode;
uniform bool u_log;
uniform vec3 u_accent;
vec3 ramp(float t) {
    t = clamp(t, 0.0, 1.0);
    return clamp(vec3(0.20 + t * (0.15 + t * (-1.2 + t * 2.0)), 0.12 + t * (1.55 + t * (-0.75)), 0.45 + t * (1.6 + t * (-3.4 + t * 1.65))), 0.0, 1.0);
}
vec3 hue(float i) {
    float t = fract(i * 0.61803398875);
    vec3 c = clamp(abs(mod(t * 6.0 + vec3(0.0, 4.0, 2.0), 6.0) - 3.0) - 1.0, 0.0, 1.0);
    return mix(vec3(0.82), c, 0.62);
}
vec3 colour_of(float value, float index) {
    if (u_mode == 2)
        return hue(index);
    if (u_mode == 0)
        return u_accent;
    float v = u_log ? log(max(value, 1e-37)) : value;
    return ramp((v - u_range.x) / max(u_range.y - u_range.x, 1e-30));
}
`;

const POINTS_VERTEX = COMMON + `
in vec3 a_position;
in float a_value;
in float a_size;
uniform vec2 u_sizes;
uniform bool u_sized, u_size_log;
uniform float u_pixels;
out vec3 v_colour;
out float v_pixels;
void main() {
    gl_Position = u_matrix * vec4(a_position - u_target, 1.0);
    float s = u_size_log ? log(max(a_size, 1e-37)) : a_size;
    float share = clamp((s - u_sizes.x) / max(u_sizes.y - u_sizes.x, 1e-30), 0.0, 1.0);
    v_pixels = u_sized ? mix(u_pixels, u_pixels * 4.0 + 10.0, share) : u_pixels;
    gl_PointSize = v_pixels + 1.0;
    v_colour = colour_of(a_value, float(gl_VertexID));
}`;

const POINTS_FRAGMENT = `#version 300 es
precision highp float;
in vec3 v_colour;
in float v_pixels;
uniform float u_alpha;
out vec4 colour;
void main() {
    vec2 at = gl_PointCoord - 0.5;
    float edge = 0.5 * v_pixels - length(at) * (v_pixels + 1.0) + 0.5;
    float cover = v_pixels < 2.5 ? 1.0 : clamp(edge, 0.0, 1.0);
    if (cover <= 0.0)
        discard;
    float light = v_pixels < 7.0 ? 1.0 : 0.86 + 0.22 * (0.5 - at.x - at.y) ;
    float a = cover * u_alpha;
    colour = vec4(v_colour * light * a, a);
}`;

const TRAILS_VERTEX = COMMON + `
in vec3 a_from;
in vec3 a_to;
in float a_value;
uniform float u_age;
out vec4 v_colour;
void main() {
    vec3 at = gl_VertexID == 0 ? a_from : a_to;
    bool gap = any(isnan(a_from)) || any(isnan(a_to));
    gl_Position = gap ? vec4(2.0, 2.0, 2.0, 1.0) : u_matrix * vec4(at - u_target, 1.0);
    float a = u_age * 0.75;
    v_colour = vec4(colour_of(a_value, float(gl_InstanceID)) * a, a);
}`;

const TRAILS_FRAGMENT = `#version 300 es
precision highp float;
in vec4 v_colour;
out vec4 colour;
void main() { colour = v_colour; }`;

function program(gl: WebGL2RenderingContext, vertex: string, fragment: string): WebGLProgram {
    const made = gl.createProgram()!;
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]] as const) {
        const shader = gl.createShader(kind)!;
        gl.shaderSource(shader, source);
        gl.compileShader(shader);
        if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost())
            throw new Error(gl.getShaderInfoLog(shader) ?? "a shader does not compile");
        gl.attachShader(made, shader);
    }
    gl.linkProgram(made);
    return made;
}

export const TRAIL_POINTS = 400;
const TRAIL_ROWS = 400;

export class Cloud {
    private points: WebGLProgram;
    private trails: WebGLProgram;
    private buffers: WebGLBuffer[];
    private trail: WebGLBuffer;
    private count = 0;
    private trailCount = 0;
    private trailRow = 0;
    private trailUsed = 0;
    private names = "";

    constructor(private gl: WebGL2RenderingContext) {
        this.points = program(gl, POINTS_VERTEX, POINTS_FRAGMENT);
        this.trails = program(gl, TRAILS_VERTEX, TRAILS_FRAGMENT);
        this.buffers = [0, 1, 2].map(() => gl.createBuffer()!);
        this.trail = gl.createBuffer()!;
        gl.enable(gl.BLEND);
        gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    }

    load(data: Points, trails: boolean): void {
        const gl = this.gl;
        this.count = data.count;
        [data.positions, data.colours, data.sizes].forEach((column, i) => {
            gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[i]);
            gl.bufferData(gl.ARRAY_BUFFER, column, gl.STREAM_DRAW);
        });
        if (trails && data.count <= TRAIL_POINTS)
            this.extend(data);
        else
            this.forget();
    }

    forget(): void {
        this.trailCount = this.trailUsed = this.trailRow = 0;
        this.names = "";
    }

    private extend(data: Points): void {
        const gl = this.gl;
        const names = data.names.join();
        gl.bindBuffer(gl.ARRAY_BUFFER, this.trail);
        if (names !== this.names) {
            this.forget();
            this.names = names;
            this.trailCount = data.count;
            gl.bufferData(gl.ARRAY_BUFFER, TRAIL_ROWS * data.count * 12, gl.DYNAMIC_DRAW);
        }
        gl.bufferSubData(gl.ARRAY_BUFFER, this.trailRow * data.count * 12, data.positions);
        this.trailRow = (this.trailRow + 1) % TRAIL_ROWS;
        this.trailUsed = Math.min(TRAIL_ROWS, this.trailUsed + 1);
    }

    private common(made: WebGLProgram, camera: Camera, look: Look): (name: string) => WebGLUniformLocation | null {
        const gl = this.gl;
        const at = (name: string) => gl.getUniformLocation(made, name);
        gl.useProgram(made);
        gl.uniformMatrix4fv(at("u_matrix"), false, camera.matrix());
        gl.uniform3fv(at("u_target"), camera.target);
        gl.uniform2fv(at("u_range"), look.range);
        gl.uniform1i(at("u_mode"), look.mode);
        gl.uniform1i(at("u_log"), look.logarithmic ? 1 : 0);
        gl.uniform3fv(at("u_accent"), look.accent);
        return at;
    }

    private attribute(made: WebGLProgram, name: string, size: number, offset: number, divisor: number, every = 1): void {
        const gl = this.gl;
        const at = gl.getAttribLocation(made, name);
        if (at < 0)
            return;
        gl.enableVertexAttribArray(at);
        gl.vertexAttribPointer(at, size, gl.FLOAT, false, every === 1 ? 0 : 4 * size * every, offset);
        gl.vertexAttribDivisor(at, divisor);
    }

    /** `every`: each of so many points is drawn, the first of them among others. */
    draw(camera: Camera, look: Look, ratio: number, every = 1): void {
        const gl = this.gl;
        gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
        gl.clearColor(0, 0, 0, 0);
        gl.clear(gl.COLOR_BUFFER_BIT);
        this.drawTrails(camera, look);
        const at = this.common(this.points, camera, look);
        gl.uniform2fv(at("u_sizes"), look.sizeRange);
        gl.uniform1i(at("u_sized"), look.sized ? 1 : 0);
        gl.uniform1i(at("u_size_log"), look.sizeLogarithmic ? 1 : 0);
        gl.uniform1f(at("u_pixels"), look.pixels * ratio);
        gl.uniform1f(at("u_alpha"), look.alpha);
        ["a_position", "a_value", "a_size"].forEach((name, i) => {
            gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[i]);
            this.attribute(this.points, name, i === 0 ? 3 : 1, 0, 0, every);
        });
        if (this.count > 0)
            gl.drawArrays(gl.POINTS, 0, Math.ceil(this.count / every));
    }

    private drawTrails(camera: Camera, look: Look): void {
        const gl = this.gl;
        if (this.trailUsed < 2 || this.trailCount === 0)
            return;
        const at = this.common(this.trails, camera, look)("u_age");
        gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[1]);
        this.attribute(this.trails, "a_value", 1, 0, 1);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.trail);
        for (let back = this.trailUsed - 1; back > 0; back--) {
            const from = (this.trailRow - 1 - back + TRAIL_ROWS) % TRAIL_ROWS, to = (from + 1) % TRAIL_ROWS;
            gl.uniform1f(at, 1 - back / TRAIL_ROWS);
            this.attribute(this.trails, "a_from", 3, from * this.trailCount * 12, 1);
            this.attribute(this.trails, "a_to", 3, to * this.trailCount * 12, 1);
            gl.drawArraysInstanced(gl.LINES, 0, 2, this.trailCount);
        }
    }
}
