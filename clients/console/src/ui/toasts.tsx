import { X } from "lucide-react";
import {
  Text,
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from "react-aria-components";
import { Button } from "./button";

const queue = new ToastQueue<{ title: string; detail?: string | undefined }>({ maxVisibleToasts: 1 });
const SHOWN_MS = 5_000;

/** Tells of something that was done. */
export function tell(title: string, detail?: string): void {
  queue.add({ title, detail }, { timeout: SHOWN_MS });
}

/** The short messages that pass by themselves. */
export function Toasts() {
  return (
    <ToastRegion queue={queue} className="toasts">
      {({ toast }) => (
        <Toast toast={toast} className="toast">
          <ToastContent>
            <Text slot="title">{toast.content.title}</Text>
            {toast.content.detail && <Text slot="description">{toast.content.detail}</Text>}
          </ToastContent>
          <Button look="quiet" className="icon" slot="close" aria-label="Dismiss">
            <X size={15} aria-hidden />
          </Button>
        </Toast>
      )}
    </ToastRegion>
  );
}
