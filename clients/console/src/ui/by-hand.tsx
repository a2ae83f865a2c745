import { Heading, Label, TextArea, TextField } from "react-aria-components";
import { Button } from "./button";
import { Dialog } from "./dialog";

/** A text that the browser does not let a page copy: shown, and selected. */
export function ByHand({ text, what, onClose }: { text: string | undefined; what: string; onClose: () => void }) {
  return (
    <Dialog isOpen={text !== undefined} onClose={onClose}>
      {(close) => (
        <>
          <Heading slot="title">Your browser did not allow copying</Heading>
          <p>The text is selected: press Ctrl+C, or ⌘C on a Mac. Over HTTPS or on localhost, browsers allow it.</p>
          <TextField value={text ?? ""} isReadOnly autoFocus>
            <Label>{what}</Label>
            <TextArea className="by-hand" rows={12} onFocus={(event) => event.currentTarget.select()} />
          </TextField>
          <div className="actions">
            <Button look="primary" onPress={close}>
              I have copied it
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}
