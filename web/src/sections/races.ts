// Pairs of accesses that may race.

import type { Race, Replay, Report } from "../data";
import { html, section, toExecution, toPlace } from "../dom";
import { table, type Cell } from "../tables";

/** What follows from a race, as far as that is known. */
export function consequence(race: Race): string {
  if (race.status === "impossible") return race.proof ?? "";
  if (race.status !== "real") return "not decided";
  if (race.harmful) return "harmful: a failure or a deadlock can follow";
  if (race.benign) return "benign: nothing follows";
  return race.outcomes_differ ? "the order changes what comes out" : "no failure is known";
}

/** The pairs; with `replay` there is a button for each that has an execution. */
export function races(report: Report, replay?: Replay): HTMLElement | null {
  if (!report.races) return null;
  const withDriver = report.races.potential.some((race) => race.driver !== undefined);
  const place = (name: string) => (withDriver ? name : toPlace(name));
  const rows = report.races.potential.map((race): Cell[] => [
    ...[place(race.a), place(race.b), race.variable, race.kinds.join(", "), race.status, consequence(race)],
    `${race.hits} of ${race.trials}`,
    ...(withDriver ? [race.driver ?? ""] : []),
    ...(replay ? [toExecution(replay, race.schedule)] : []),
  ]);
  const heads = ["one", "other", "variable", "accesses", "status", "what follows", "trials that hit it", ...(withDriver ? ["program"] : []), ...(replay ? ["execution"] : [])];
  return section("races", "Races", rows.length > 0 ? table("Pairs of accesses that may race", heads, rows) : html("p", {}, "No two accesses may race."));
}
