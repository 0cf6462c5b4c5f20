// A frame around something wide that scrolls; its edges fade where there is more.

import { make } from "./dom.js";

export class Frame {
  constructor() {
    this.scroller = make("div", "scroller");
    this.element = make("div", "frame", this.scroller);
    this.scroller.addEventListener("scroll", () => this.showEdges(), { passive: true });
  }

  get width() {
    return this.scroller.clientWidth;
  }

  showEdges() {
    const { scrollLeft, scrollWidth, clientWidth } = this.scroller;
    this.element.classList.toggle("more-left", scrollLeft > 4);
    this.element.classList.toggle("more-right", scrollLeft + clientWidth < scrollWidth - 4);
  }
}
