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
}
