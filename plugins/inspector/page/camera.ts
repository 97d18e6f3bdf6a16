/* camera.ts - where the view looks from, and what of the world lies at which pixel.
 *
 * In two dimensions x goes right and y up, and `scale` is how much of the world a pixel is. In three the camera turns
 * about `target`, z being up. Points are given to the GPU as they are; `target` is taken off them in the shader, so that
 * far from the origin nearly all digits of a float are left for what is near the target.
 */

export type Vec3 = [number, number, number];

export class Camera {
    flat = true;
    target: Vec3 = [0, 0, 0];
    scale = 1;      /* units of the world in a pixel, at the target */
    yaw = -0.7;
    pitch = 0.6;    /* above the plane of x and y */
    width = 1;
    height = 1;

    private distance(): number {
        return this.scale * this.height * 1.2;
    }

    /** Unit vectors of the picture: right, up, and towards the eye. */
    axes(): [Vec3, Vec3, Vec3] {
        if (this.flat)
            return [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
        const cy = Math.cos(this.yaw), sy = Math.sin(this.yaw), cp = Math.cos(this.pitch), sp = Math.sin(this.pitch);
        return [[cy, sy, 0], [-sy * sp, cy * sp, cp], [sy * cp, -cy * cp, sp]];
    }

    /** Column-major, for points with the target taken off. */
    matrix(): Float32Array {
        const [r, u, b] = this.axes();
        const sx = 2 / (this.scale * this.width), sy = 2 / (this.scale * this.height);
        if (this.flat)
            return new Float32Array([sx, 0, 0, 0, 0, sy, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        const d = this.distance(), near = d * 0.01, far = d * 100;
        const x = sx * d, y = sy * d, a = -(far + near) / (far - near), e = -2 * far * near / (far - near);
        /* z of the eye is (p . b) - d; w is its negative */
        return new Float32Array([
            x * r[0], y * u[0], a * b[0], -b[0],
            x * r[1], y * u[1], a * b[1], -b[1],
            x * r[2], y * u[2], a * b[2], -b[2],
            0, 0, -a * d + e, d,
        ]);
    }

    /** Pixels from the upper left, and whether the point is in front of the eye. */
    project(p: ArrayLike<number>): [number, number, boolean] {
        const x = p[0] - this.target[0], y = p[1] - this.target[1], z = (p[2] ?? 0) - this.target[2];
        const [r, u, b] = this.axes();
        const right = x * r[0] + y * r[1] + z * r[2], up = x * u[0] + y * u[1] + z * u[2];
        let share = 1 / this.scale;
        if (!this.flat) {
            const depth = this.distance() - (x * b[0] + y * b[1] + z * b[2]);
            if (depth <= 0)
                return [0, 0, false];
            share *= this.distance() / depth;
        }
        return [this.width / 2 + right * share, this.height / 2 - up * share, true];
    }

    /** The place in the plane of the target at a pixel. */
    unproject(px: number, py: number): Vec3 {
        const [r, u] = this.axes();
        const right = (px - this.width / 2) * this.scale, up = (this.height / 2 - py) * this.scale;
        return [0, 1, 2].map((i) => this.target[i] + r[i] * right + u[i] * up) as Vec3;
    }

    pan(dx: number, dy: number): void {
        const [r, u] = this.axes();
        for (let i = 0; i < 3; i++)
            this.target[i] -= (r[i] * dx - u[i] * dy) * this.scale;
    }

    turn(dx: number, dy: number): void {
        this.yaw -= dx * 0.008;
        this.pitch = Math.max(-1.55, Math.min(1.55, this.pitch + dy * 0.008));
    }

    /** Nearer by a factor; what is at the pixel stays there. */
    zoom(factor: number, px = this.width / 2, py = this.height / 2): void {
        const before = this.unproject(px, py);
        this.scale = Math.min(1e30, Math.max(1e-30, this.scale / factor));
        const after = this.unproject(px, py);
        for (let i = 0; i < 3; i++)
            this.target[i] += before[i] - after[i];
    }

    /** Look at a box as a whole. */
    frame(low: Vec3, high: Vec3): void {
        for (let i = 0; i < 3; i++)
            this.target[i] = (low[i] + high[i]) / 2;
        const span = this.flat ? Math.max((high[0] - low[0]) / this.width, (high[1] - low[1]) / this.height)
            : Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]) / Math.min(this.width, this.height);
        this.scale = (span || 1 / Math.max(1, this.height)) * 1.16;
    }
}
