/** Lines for a file or a terminal, to look at and to copy. */
import { CopyButton } from './copy.tsx'

export function Snippet({ text, name }: { text: string; name: string }) {
  return (
    <div className="snippet">
      <pre>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} name={name} isShown={false} />
    </div>
  )
}
