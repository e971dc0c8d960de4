/** A fingerprint, large enough to read aloud. */
import { CopyButton } from '../../parts/show/copy.tsx'
import { texts } from '../../texts/index.ts'

export function Fingerprint({ text }: { text: string }) {
  return (
    <div className="flex items-start gap-2 rounded-[8px] border border-line-2 bg-canvas py-2 pr-1 pl-3">
      <code
        data-fingerprint
        className="min-w-0 flex-1 text-[13px] leading-6 font-medium wrap-anywhere"
      >
        {text}
      </code>
      <CopyButton text={text} name={texts.members.fingerprint} isShown={false} />
    </div>
  )
}
