// `cssame serve`: asks the server what there is, and draws the page.

import "../style.css";
import "./serve.css";
import { app } from "./app";
import { served } from "./server";

const place = document.getElementById("page");
if (place) {
  served().then(
    (of) => app(place, of),
    (error) => place.append(`The server does not answer: ${String(error)}`),
  );
}
