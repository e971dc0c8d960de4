/** Lines for a file or a terminal, with a button that copies them. */
import { CopyButton } from './copy.tsx'

export function CodeBlock({
  text,
  name,
  language,
}: {
  text: string
  name: string
  language?: string
}) {
  return (
    <figure className="overflow-hidden rounded-[8px] border border-line-2 bg-canvas">
      <figcaption className="flex items-center justify-between border-b border-line py-1 pr-1 pl-3 text-small text-ink-3">
        {language ?? name}
        <CopyButton text={text} name={name} isShown={false} />
      </figcaption>
      <pre className="px-3 py-2 font-mono text-mono wrap-anywhere whitespace-pre-wrap">
        <code>{text}</code>
      </pre>
    </figure>
  )
}
