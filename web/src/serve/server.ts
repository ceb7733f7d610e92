// The requests of docs/commands/serve.md.

import type { Step } from "../data";
import { reader } from "./events";

export interface Question {
  command: string;
  text: string;
  file?: string;
  seconds?: number;
  megabytes?: number;
  max_states?: number;
  inputs?: string[];
  seed?: number;
  steps?: Step[];
  cycle?: number;
  target?: string;
  spurious_wakeups?: boolean;
  prefer_writers?: boolean;
}

export interface Ended {
  status: number | null;
  answer: Record<string, unknown> | null;
  /** What a command prints for people, where that is its answer. */
  text?: string;
  complaint: string;
  stopped: boolean;
  files: { path: string; text: string }[];
}

export interface Served {
  tool: string;
  directory: string;
  files: string[];
  samples: string[];
  most: { seconds: number; megabytes: number; text_bytes: number };
}

async function checked(response: Response): Promise<Response> {
  if (!response.ok) throw new Error((await response.text()).trim() || `the server says ${response.status}`);
  return response;
}

/** All paths are relative to the page, whose path has the token. */
export async function served(): Promise<Served> {
  return (await checked(await fetch("api/files"))).json() as Promise<Served>;
}

export async function sample(name: string): Promise<string> {
  return (await checked(await fetch(`api/sample?name=${encodeURIComponent(name)}`))).text();
}

export async function open(name: string): Promise<{ text: string; hash: string }> {
  return (await checked(await fetch(`api/file?name=${encodeURIComponent(name)}`))).json() as Promise<{ text: string; hash: string }>;
}

/** Writes a file that still is what was read; its hash from now on. */
export async function write(name: string, hash: string, text: string): Promise<string> {
  const query = new URLSearchParams({ name, hash });
  const response = await checked(await fetch(`api/file?${query}`, { method: "PUT", body: text }));
  return ((await response.json()) as { hash: string }).hash;
}

/** Asks, tells how it goes, and gives the end. */
export async function ask(question: Question, started: (job: number) => void, progress: (line: string) => void): Promise<Ended> {
  const headers = { "Content-Type": "application/json" };
  const response = await checked(await fetch("api/jobs", { method: "POST", headers, body: JSON.stringify(question) }));
  const decoder = new TextDecoder();
  const events = reader();
  let ended: Ended | null = null;
  const stream = response.body?.getReader();
  for (let part = await stream?.read(); part && !part.done; part = await stream?.read()) {
    for (const { event, data } of events(decoder.decode(part.value, { stream: true }))) {
      if (event === "started") started(Number(data));
      else if (event === "progress") progress(data);
      else if (event === "answer") ended = JSON.parse(data) as Ended;
    }
  }
  if (ended) return ended;
  throw new Error("the server has ended before it answered");
}

export async function stop(job: number): Promise<void> {
  // It may just have ended.
  await fetch(`api/jobs/${job}/stop`, { method: "POST" });
}
