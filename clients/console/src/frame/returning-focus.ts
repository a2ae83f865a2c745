import { useEffect } from "react";

/** A dialog that closes gives the focus back within this time. */
const SETTLED_MS = 150;

/**
 * What had the focus may leave the page: the row of a key that was revoked. The
 * focus then goes to the content, not to the beginning of the document.
 */
export function useReturningFocus(): void {
  useEffect(() => {
    let last: Element | null = null;
    const onFocus = (): void => {
      last = document.activeElement;
    };
    const changes = new MutationObserver(() => {
      if (last === null || last.isConnected) return;
      last = null;
      setTimeout(() => {
        if (document.activeElement === document.body) document.getElementById("content")?.focus();
      }, SETTLED_MS);
    });
    addEventListener("focusin", onFocus);
    changes.observe(document.body, { childList: true, subtree: true });
    return () => {
      removeEventListener("focusin", onFocus);
      changes.disconnect();
    };
  }, []);
}
