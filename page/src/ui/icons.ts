/** Small drawings for buttons. */
const paths: Record<string, string> = {
  play: '<path class="f" d="M5 3l8 5-8 5z"/>',
  pause: '<path class="f" d="M4 3h3v10H4zM9 3h3v10H9z"/>',
  next: '<path class="f" d="M4 3l6 5-6 5z"/><path d="M12 3v10"/>',
  back: '<path class="f" d="M12 3L6 8l6 5z"/><path d="M4 3v10"/>',
  reset: '<path d="M3.5 8a4.6 4.6 0 1 0 1.5-3.4M3.2 2.6v3h3"/>',
  loop: '<path d="M3 8V6.5A2.5 2.5 0 0 1 5.500 4H13M11 2l2 2-2 2M13 8v1.500A2.500 2.500 0 0 1 10.500 12H3M5 10l-2 2 2 2"/>',
  theme: '<circle cx="8" cy="8" r="5.500"/><path class="f" d="M8 2.500a5.500 5.500 0 0 1 0 11z"/>',
  panel: '<path d="M2.500 4.500h11M2.500 8h11M2.500 11.500h11"/>',
  close: '<path d="M4 4l8 8M12 4l-8 8"/>',
  plots: '<path d="M2.500 13.500h11M3.500 11l3-4 2.500 2 4-6"/>',
};

export function icon(name: string): SVGElement {
  const template = document.createElement("template");
  template.innerHTML = `<svg class="i" viewBox="0 0 16 16" aria-hidden="true">${paths[name] ?? ""}</svg>`;
  return template.content.firstElementChild as SVGElement;
}
