// What the tests need of Node: its own types would be visible to the page as well.
declare module "node:fs" {
  export function readFileSync(path: string, encoding: "utf8"): string;
}
