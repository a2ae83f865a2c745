/** Marks with which models begin calls of tools, for their service to read: Hermes and Qwen, Mistral, Llama, DeepSeek. */
const BEGUN = ["<tool_call>", "[TOOL_CALLS]", "<|python_tag|>", "<function=", "<｜tool▁calls▁begin｜>"];
const ENDED = "</tool_call>";

/** What is said of such a text. */
export const WRITTEN_CALL =
  "its answer is the call of a tool as text, which its service did not read: switch on calls of tools there, such as --enable-auto-tool-choice of vLLM or --jinja of llama.cpp";

/**
 * Whether a text is a call of a tool that the service of the model did not read. It is not called: a text can repeat
 * what somebody else wrote.
 */
export function isWrittenCall(text: string): boolean {
  const begun = text.trimStart();
  return BEGUN.some((mark) => begun.startsWith(mark)) || text.trimEnd().endsWith(ENDED);
}
