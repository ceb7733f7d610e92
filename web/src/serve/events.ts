// Server-sent events, as they come in pieces.

export interface Event {
  event: string;
  data: string;
}

/** What takes pieces of a stream, and gives the events that are complete. */
export function reader(): (piece: string) => Event[] {
  let rest = "";
  return (piece) => {
    // A line may end with both characters, and a piece between them.
    rest = (rest + piece).replace(/\r\n/g, "\n");
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    return blocks.map(parsed).filter((event) => event !== null);
  };
}

function parsed(block: string): Event | null {
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [, name, value] = /^(\w*):? ?(.*)$/.exec(line) ?? [];
    if (name === "event") event = value ?? "";
    if (name === "data") data.push(value ?? "");
  }
  return data.length > 0 ? { event, data: data.join("\n") } : null;
}
