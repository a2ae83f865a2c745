import type { ReactNode } from "react";
import { Dialog as AriaDialog, Modal, ModalOverlay } from "react-aria-components";

/** A dialog over the page. @param isHeld whether only its own button closes it. */
export function Dialog({
  isOpen,
  onClose,
  isHeld = false,
  isAlert = false,
  label,
  children,
}: {
  isOpen: boolean;
  onClose: () => void;
  isHeld?: boolean;
  isAlert?: boolean;
  /** What it is called if it has no title of its own. */
  label?: string;
  children: (close: () => void) => ReactNode;
}) {
  return (
    <ModalOverlay
      className="overlay"
      isOpen={isOpen}
      isKeyboardDismissDisabled={isHeld}
      onOpenChange={(open) => !open && onClose()}
    >
      <Modal className="modal">
        <AriaDialog
          {...(label !== undefined && { "aria-label": label })}
          {...(isAlert && { role: "alertdialog" as const })}
        >
          {({ close }) => children(close)}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
