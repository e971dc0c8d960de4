/** One signed change with its proof. */
import { ShieldCheck } from 'lucide-react'
import type { Returned } from '../../keys/messages.ts'
import { Facts } from '../../parts/page/facts.tsx'
import { Inspector } from '../../parts/page/inspector.tsx'
import { Proof } from '../../parts/page/proof.tsx'
import { CopyButton } from '../../parts/show/copy.tsx'
import { momentOf } from '../../parts/show/moments.ts'
import { Status } from '../../parts/show/status.tsx'
import { texts } from '../../texts/index.ts'

const words = texts.history

export type SignedLink = NonNullable<Returned<'history.read'>>['links'][number]

export function LinkInspector({ link, onClose }: { link: SignedLink; onClose(): void }) {
  const { seq, at, by, what, hash } = link
  return (
    <Inspector
      key={seq}
      title={`${words.link} ${seq}`}
      badge={
        <Status tone="green" icon={ShieldCheck}>
          {words.verified}
        </Status>
      }
      onClose={onClose}
    >
      <div className="flex flex-col gap-4 px-4 py-3">
        <p className="font-medium wrap-anywhere first-letter:uppercase">{what}</p>
        <Facts
          rows={[
            [words.signedBy, by],
            [words.signedAt, momentOf(at)],
            [words.checked, words.checkedHere],
          ]}
        />
        <Proof>
          <p>{words.hash}</p>
          <CopyButton text={hash} name={words.hash} />
        </Proof>
      </div>
    </Inspector>
  )
}
