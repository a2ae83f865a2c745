import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { Button } from "./button";
import { tell } from "./toasts";

const DONE_MS = 2_000;

/** Puts a text on the clipboard. @returns whether the browser allowed it. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Copies a text, and says that it did. */
export function CopyButton({
  text,
  what,
  label,
  onCopied,
}: {
  text: string;
  what: string;
  label?: string;
  onCopied?: () => void;
}) {
  const [done, setDone] = useState(false);
  async function press() {
    if (!(await copy(text))) return tell("Your browser did not allow copying", "Select the text and press Ctrl+C.");
    onCopied?.();
    setDone(true);
    setTimeout(() => setDone(false), DONE_MS);
  }
  return (
    <>
      <Button
        look={label ? "plain" : "quiet"}
        className={label ? "" : "icon"}
        // Who speaks to the browser says what is seen: "Copied" for as long as that is there.
        aria-label={`${label ? (done ? "Copied" : label) : "Copy"} ${what}`}
        onPress={() => void press()}
      >
        {done ? <Check size={16} aria-hidden /> : <Copy size={16} aria-hidden />}
        {label && (done ? "Copied" : label)}
      </Button>
      <span className="sr" role="status">
        {done ? `${what} copied` : ""}
      </span>
    </>
  );
}
