// The pages of causes are our own Markdown: headings, paragraphs, lists, fenced and indented code, `code`, **strong**.
import { h } from "./dom";

function inline(text: string): (Node | string)[] {
  return text
    .split(/(`[^`]+`|\*\*[^*]+\*\*)/)
    .filter((part) => part !== "")
    .map((part) => {
      if (part.startsWith("`")) return h("code", {}, part.slice(1, -1));
      if (part.startsWith("**")) return h("strong", {}, part.slice(2, -2));
      return part;
    });
}

export function markdown(text: string): HTMLElement {
  const root = h("div", { class: "prose" });
  const lines = text.split("\n");
  let paragraph: string[] = [];
  let list: HTMLElement | null = null;
  let item: HTMLElement | null = null;
  const flush = () => {
    if (paragraph.length > 0) root.append(h("p", {}, ...inline(paragraph.join(" "))));
    paragraph = [];
  };
  const closeList = () => {
    list = null;
    item = null;
  };
  for (let i = 0; i < lines.length; i += 1) {
    const line = lines[i];
    const heading = /^(#+) (.*)/.exec(line);
    const bullet = /^(?:([-*])|(\d+)\.) (.*)/.exec(line);
    if (line.startsWith("```") || /^ {4}\S/.test(line)) {
      flush();
      const fenced = line.startsWith("```");
      const code: string[] = fenced ? [] : [line.slice(4)];
      while (i + 1 < lines.length && (fenced ? !lines[i + 1].startsWith("```") : /^ {4}/.test(lines[i + 1]))) {
        i += 1;
        code.push(fenced ? lines[i] : lines[i].slice(4));
      }
      if (fenced) i += 1;
      closeList();
      root.append(h("pre", { tabindex: 0 }, code.join("\n")));
    } else if (heading) {
      flush();
      closeList();
      if (heading[1].length > 1) root.append(h("h4", {}, ...inline(heading[2])));
    } else if (bullet) {
      flush();
      if (list === null) {
        list = h(bullet[1] ? "ul" : "ol");
        root.append(list);
      }
      item = h("li", {}, ...inline(bullet[3]));
      list.append(item);
    } else if (line.trim() === "") {
      flush();
      closeList();
    } else if (item !== null) {
      item.append(" ", ...inline(line.trim()));
    } else {
      paragraph.push(line.trim());
    }
  }
  flush();
  return root;
}
