import type { ReactNode } from "react";

// Tables of plain HTML: Tab reaches each button in them, and screen readers have keys of their own for tables. A grid
// of controls would take the arrow keys, and Tab would leave it.

/** A table in plain HTML: Tab reaches the controls in it. */
export function Table({
  className = "",
  children,
  ...label
}: {
  className?: string;
  children: ReactNode;
  "aria-label"?: string;
  "aria-labelledby"?: string;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1).
    // biome-ignore lint/a11y/useSemanticElements: a field set is for forms.
    <div className="scroll" role="group" tabIndex={0} {...label}>
      <table {...label} className={className}>
        {children}
      </table>
    </div>
  );
}

/** The row of column names. */
export function TableHeader({ children }: { children: ReactNode }) {
  return (
    <thead>
      <tr>{children}</tr>
    </thead>
  );
}

/** The name of a column. */
export function Column({ children }: { children: ReactNode }) {
  return <th scope="col">{children}</th>;
}

/** The rows. */
export function TableBody({ children }: { children: ReactNode }) {
  return <tbody>{children}</tbody>;
}

/** A row. */
export function Row({ className = "", children }: { className?: string; children: ReactNode }) {
  return <tr className={className}>{children}</tr>;
}

/** @param isHeader whether it names the row. */
export function Cell({
  isHeader = false,
  className = "",
  children,
}: {
  isHeader?: boolean;
  className?: string;
  children?: ReactNode;
}) {
  return isHeader ? (
    <th scope="row" className={className}>
      {children}
    </th>
  ) : (
    <td className={className}>{children}</td>
  );
}
