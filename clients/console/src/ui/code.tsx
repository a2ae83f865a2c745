/** JSON, TOML or a shell's line, to be read and copied. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1).
    <section className="code" aria-label={label} tabIndex={0}>
      <pre>{text}</pre>
    </section>
  );
}
