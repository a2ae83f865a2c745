import type { ReactNode } from "react";
import { Dialog as AriaDialog, Modal, ModalOverlay } from "react-aria-components";

/** A dialog over the page. @param isHeld whether only its own button closes it. */
export function Dialog({
  isOpen,
  onClose,
  isHeld = false,
  isAlert = false,
  children,
}: {
  isOpen: boolean;
  onClose: () => void;
  isHeld?: boolean;
  isAlert?: boolean;
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
        <AriaDialog {...(isAlert && { role: "alertdialog" as const })}>{({ close }) => children(close)}</AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
