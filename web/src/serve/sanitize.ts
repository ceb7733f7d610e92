// What the language server says is Markdown with texts of the program in it. Of its HTML only what formats is kept; scripts would
// be refused by the policy of the page as well.

const KEPT = new Set(["A", "B", "BR", "CODE", "EM", "HR", "LI", "OL", "P", "PRE", "SPAN", "STRONG", "TABLE", "TBODY", "TD", "TH", "THEAD", "TR", "UL"]);

/** The same, without elements that do anything. */
export function sanitized(text: string): string {
  const parsed = new DOMParser().parseFromString(text, "text/html");
  for (const element of [...parsed.body.querySelectorAll("*")].reverse()) {
    if (!KEPT.has(element.tagName)) element.replaceWith(parsed.createTextNode(element.textContent ?? ""));
    else for (const { name } of [...element.attributes]) if (name !== "class") element.removeAttribute(name);
  }
  return parsed.body.innerHTML;
}
