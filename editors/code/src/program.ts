// Where the program `cssame` is.
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";

/** What a search needs to know of its surroundings. */
export interface Surroundings {
  /** The variable `PATH`. */
  path: string;
  home: string;
  /** The first folder of the workspace, if there is one. */
  folder: string | undefined;
  windows: boolean;
}

/** The file of the program that the setting `cssame.path` names, or undefined. */
export function findProgram(setting: string, around: Surroundings): string | undefined {
  const name = setting.replace("${workspaceFolder}", around.folder ?? ".").replace(/^~(?=[/\\])/, around.home);
  const isPath = name.includes("/") || (around.windows && name.includes("\\"));
  const folders = isAbsolute(name) ? [""] : isPath ? [around.folder ?? "."] : around.path.split(delimiter);
  const endings = around.windows ? ["", ".exe"] : [""];
  return folders
    .flatMap((folder) => endings.map((ending) => (isAbsolute(name) ? name : resolve(join(folder, name))) + ending))
    .find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The arguments of a command line of the server, which may begin with the name of the program. */
export function argumentsOf(commandLine: unknown): string[] {
  if (!Array.isArray(commandLine) || !commandLine.every((word) => typeof word === "string")) {
    throw new Error("a command line is a list of strings");
  }
  return commandLine[0] === "cssame" ? commandLine.slice(1) : commandLine;
}

/** A source file, and an execution of it: the path of a schedule file, or its text. */
export interface Record {
  file: string;
  schedule?: string;
  text?: string;
}

/** The argument of the command `cssame.trace`. */
export function recordOf(given: unknown): Record {
  const { file, schedule, text } = (given ?? {}) as { file?: unknown; schedule?: unknown; text?: unknown };
  const isText = (value: unknown): value is string | undefined => value === undefined || typeof value === "string";
  if (typeof file !== "string" || !isText(schedule) || !isText(text)) {
    throw new Error("a trace is named by an object with the paths `file` and `schedule`, or with the `text` of a schedule");
  }
  return { file, schedule, text };
}
