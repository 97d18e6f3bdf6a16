/* dom.ts - elements in one expression, and small helpers for texts and numbers.
 *
 * There is no framework: what changes ten times a second (a value, a clock) is a text node that its owner keeps and
 * writes, and what changes in structure is built anew. So focus and scroll places stay where they are.
 */

export type Child = Node | string | number | null | undefined | false;

export interface Props {
    class?: string;
    title?: string;
    on?: { [event: string]: (event: any) => void };
    [attribute: string]: unknown;
}

/** An element with attributes, listeners and children. Attributes that are false or undefined are left out. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(props)) {
        if (value === undefined || value === false || value === null)
            continue;
        if (name === "on")
            for (const [event, listener] of Object.entries(value as object))
                element.addEventListener(event, listener as EventListener);
        else
            element.setAttribute(name, value === true ? "" : String(value));
    }
    append(element, children);
    return element;
}

export function append(element: Element, children: Child[]): void {
    for (const child of children)
        if (child !== null && child !== undefined && child !== false)
            element.append(child instanceof Node ? child : String(child));
}

export function replace(element: Element, ...children: Child[]): void {
    element.textContent = "";
    append(element, children);
}

/** Write a text where it differs, so that the browser does not lay the page out anew without need. */
export function setText(node: Node, text: string): void {
    if (node.textContent !== text)
        node.textContent = text;
}

const SVG = "http://www.w3.org/2000/svg";

/** An icon of 16 by 16, from the path in its "d". */
export function icon(path: string, label = ""): SVGSVGElement {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "0 0 16 16");
    svg.setAttribute("class", "icon");
    svg.setAttribute("aria-hidden", label === "" ? "true" : "false");
    const shape = document.createElementNS(SVG, "path");
    shape.setAttribute("d", path);
    svg.append(shape);
    return svg;
}

export const ICONS = {
    run: "M4 2.5v11l9-5.5z",
    pause: "M4 2.5h3v11H4zM9 2.5h3v11H9z",
    step: "M3 2.5v11l7-5.5zM11 2.5h2v11h-2z",
    sun: "M8 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM7.3 0h1.4v2.5H7.3zM7.3 13.5h1.4V16H7.3zM0 7.3h2.5v1.4H0zM13.5 7.3H16v1.4h-2.5z" +
        "M2 3l1-1 1.8 1.8-1 1zM11.2 12.2l1-1L14 13l-1 1zM13 2l1 1-1.8 1.8-1-1zM3.8 11.2l1 1L3 14l-1-1z",
    moon: "M13.5 10.2A6 6 0 0 1 5.8 2.5 6 6 0 1 0 13.5 10.2z",
    chevron: "M6 3.5 10.5 8 6 12.5z",
    search: "M7 1.5a5.5 5.5 0 1 0 3.4 9.8l3.2 3.2 1-1-3.2-3.2A5.5 5.5 0 0 0 7 1.5zm0 1.5a4 4 0 1 1 0 8 4 4 0 0 1 0-8z",
    curve: "M1 12.5c2.5 0 3-8.5 5.5-8.5S9.5 12 12 12c1.2 0 2-.8 3-2.5l-.9-.6C13.3 10.2 12.8 10.8 12 10.8 10 10.8 9.2 2.8 6.5 2.8 3.4 2.8 3 11.3 1 11.300z",
    close: "M3.7 2.6 8 6.900l4.3-4.3 1.1 1.100L9.1 8l4.3 4.3-1.1 1.100L8 9.100l-4.3 4.3-1.1-1.100L6.9 8 2.6 3.700z",
    lock: "M5 7V5a3 3 0 0 1 6 0v2h1v7H4V7zm1.3 0h3.400V5a1.7 1.7 0 0 0-3.4 0z",
    target: "M7.3 0h1.400v2.600a5.5 5.5 0 0 1 4.7 4.700H16v1.400h-2.600a5.5 5.5 0 0 1-4.7 4.700V16H7.300v-2.600a5.5 5.5 0 0 1-4.7-4.700H0V7.300h2.600a5.5 5.5 0 0 1 4.7-4.700zM8 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8z",
    frame: "M1 1h5v1.500H2.500V6H1zM10 1h5v5h-1.500V2.500H10zM1 10h1.500v3.500H6V15H1zM13.5 10H15v5h-5v-1.500h3.500z",
    reload: "M8 2.500a5.5 5.5 0 1 0 5.3 7l-1.4-.4A4 4 0 1 1 8 4c1 0 2 .4 2.7 1.100L8.5 7.300H14V1.800l-2.2 2.200A5.5 5.5 0 0 0 8 2.500z",
    help: "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1zm-.8 9.500h1.600V12H7.200zM8 4c1.6 0 2.7 1 2.7 2.3 0 1.9-1.9 1.9-1.9 3.200H7.200c0-2.1 1.9-2.1 1.9-3.2 0-.5-.4-.9-1.1-.9s-1.2.5-1.2 1.200H5.200C5.2 5 6.4 4 8 4z",
};

/** A button with an icon, and with a name for screen readers. */
export function iconButton(path: string, label: string, action: () => void, extra: Props = {}): HTMLButtonElement {
    const button = h("button", { class: "icon-button", type: "button", title: label, "aria-label": label, ...extra, on: { click: action } });
    button.append(icon(path));
    return button;
}

/** A number as people read it: at most seven significant digits, without zeros at the end. */
export function formatNumber(value: unknown, digits = 7): string {
    if (typeof value === "string")
        return value;
    if (typeof value !== "number")
        return "";
    if (value === 0 || Number.isInteger(value) && Math.abs(value) < 1e12)
        return String(value);
    const size = Math.abs(value);
    if (size >= 1e-4 && size < 1e7)
        return String(Number(value.toPrecision(digits)));
    return value.toExponential(Math.max(0, digits - 3)).replace(/\.?0+e/, "e").replace("e+", "e");
}

/** 1234567 as 1,234,567. */
export function formatCount(value: number): string {
    return value.toLocaleString("en-US");
}

/** 0.00123 s as "1.23 ms". */
export function formatSeconds(seconds: number): string {
    if (!Number.isFinite(seconds))
        return "";
    if (seconds >= 1)
        return seconds.toPrecision(3) + " s";
    if (seconds >= 1e-3)
        return (seconds * 1e3).toPrecision(3) + " ms";
    if (seconds >= 1e-6)
        return (seconds * 1e6).toPrecision(3) + " µs";
    return Math.round(seconds * 1e9) + " ns";
}

export function formatBytes(bytes: number): string {
    const units = ["B", "KiB", "MiB", "GiB"];
    let i = 0;
    while (bytes >= 1024 && i < 3) {
        bytes /= 1024;
        i++;
    }
    return (i === 0 ? bytes : bytes.toPrecision(3)) + " " + units[i];
}
