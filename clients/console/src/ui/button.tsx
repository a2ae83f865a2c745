import { Button as AriaButton, type ButtonProps } from "react-aria-components";

/** How much a button asks to be pressed. */
export type Look = "primary" | "plain" | "quiet" | "danger";

export function Button({ look = "plain", className, ...rest }: ButtonProps & { look?: Look; className?: string }) {
  return <AriaButton {...rest} className={`btn btn-${look} ${className ?? ""}`} />;
}
