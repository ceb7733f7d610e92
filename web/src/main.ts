// The report: reads the data of the page, and draws it.

import "./style.css";
import type { Report } from "./data";
import { page } from "./page";

const data = document.getElementById("data")?.textContent ?? "null";
const report = JSON.parse(data) as Report | null;
const place = document.getElementById("page");
if (report === null) {
  place?.append("This page has no data: `cssame report` puts them in.");
} else {
  document.title = `${report.file} – cssame`;
  place?.append(page(report));
  // A link may lead to a finding that is not shown yet.
  addEventListener("hashchange", () => {
    if (!location.hash.startsWith("#finding-") || document.querySelector(location.hash)) return;
    document.querySelector<HTMLElement>("#findings .more")?.click();
    document.querySelector(location.hash)?.scrollIntoView();
  });
}
