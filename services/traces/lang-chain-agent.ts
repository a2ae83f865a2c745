/** What LangChain calls the name of an agent in the metadata of each step. */
export const AGENT_NAME = "lc_agent_name";
/** Metadata that is read, in characters at most. */
const LONGEST = 16_384;

/** The agent that metadata in JSON names, as OpenInference sends it; "" if it names none. */
export function agentIn(text = ""): string {
  // Most metadata is somebody's own, and not worth parsing.
  if (text.length > LONGEST || !text.includes(AGENT_NAME)) return "";
  try {
    const read: unknown = JSON.parse(text);
    const name = typeof read === "object" && read !== null ? Reflect.get(read, AGENT_NAME) : undefined;
    return typeof name === "string" ? name : "";
  } catch {
    return "";
  }
}
