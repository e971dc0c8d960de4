/** The link for invited people, as text and as a QR code. */
import encode from 'qr'
import { useState } from 'react'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Proof } from '../../parts/page/proof.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { CodeBlock } from '../../parts/show/code_block.tsx'
import { CopyButton } from '../../parts/show/copy.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { linkOf } from '../workspaces/link.ts'

const words = texts.members.link

type Props = {
  workspaceId: string
  /** To copy the link is the step's action. */
  isStep?: boolean
}

export function InvitationLinkBlock({ workspaceId, isStep = false }: Props) {
  const [server, setServer] = useState(location.origin)
  const { data, error } = useAsk('workspaces.invitationLink', { workspaceId })
  if (error) return <FailureNote error={error} />
  if (!data) return <SkeletonRows count={2} />
  const link = URL.canParse(server) ? linkOf({ ...data, server }) : null
  return (
    <div className="flex flex-col gap-3">
      {link ? <CodeBlock text={link} name={words.theLink} language={words.title} /> : null}
      {link && isStep ? (
        <CopyButton text={link} name={words.theLink} isShown={false} verb={words.copy} />
      ) : null}
      <p className="text-small text-ink-2">{words.what}</p>
      {link ? (
        <Proof label={words.codeLabel}>
          <QrCode text={link} name={words.code} />
        </Proof>
      ) : null}
      <Proof label={words.server}>
        <TextField
          label={words.server}
          help={words.serverHelp}
          value={server}
          onChange={setServer}
          mono
        />
      </Proof>
    </div>
  )
}

const MARGIN = 4

/** Dark on white in both themes, because cameras expect that. */
function QrCode({ text, name }: { text: string; name: string }) {
  const rows = encode(text, 'raw', { border: MARGIN })
  const dark = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])),
  )
  return (
    <svg
      className="w-55 max-w-full"
      role="img"
      aria-label={name}
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      shapeRendering="crispEdges"
    >
      <rect width="100%" height="100%" fill="#ffffff" />
      <path d={dark.join('')} fill="#000000" />
    </svg>
  )
}
