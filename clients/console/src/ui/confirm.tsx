import type { ReactNode } from "react";
import { Heading } from "react-aria-components";
import { writeSentenceOf } from "../service/transport";
import { Button } from "./button";
import { Notice } from "./notice";

/** Asks before something that cannot be undone; safe is what Enter does. */
export function Confirm({
  title,
  children,
  keep,
  doIt,
  failed,
  work,
  close,
}: {
  title: string;
  children: ReactNode;
  /** What the button says that does nothing. */
  keep: string;
  /** What the button says that does it. */
  doIt: string;
  /** What is said where it was not done. */
  failed: string;
  work: { readonly isPending: boolean; readonly error: Error | null; run: () => void };
  close: () => void;
}) {
  return (
    <>
      <Heading slot="title">{title}</Heading>
      {children}
      {work.error && (
        <Notice tone="error" title={failed}>
          {writeSentenceOf(work.error)}
        </Notice>
      )}
      <div className="actions">
        <Button onPress={close} autoFocus>
          {keep}
        </Button>
        <Button look="danger" isPending={work.isPending} onPress={work.run}>
          {doIt}
        </Button>
      </div>
    </>
  );
}
