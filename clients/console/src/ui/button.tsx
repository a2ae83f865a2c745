import { Button as AriaButton, type ButtonProps } from "react-aria-components";

/** How much a button asks to be pressed. */
export type Look = "primary" | "plain" | "quiet" | "danger";

/** A button in one of the looks of the console. */
export function Button({ look = "plain", className, ...rest }: ButtonProps & { look?: Look; className?: string }) {
  return <AriaButton {...rest} className={`btn btn-${look} ${className ?? ""}`} />;
}
