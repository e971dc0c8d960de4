/** The link for who is invited: what it carries stands behind the `#`, and so in no log of a server. */
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { QrCode } from '../../parts/qr_code.tsx'
import { FailureNote } from '../../parts/states/failure.tsx'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { linkOf } from '../workspaces/link.ts'

const words = texts.members.link

export function InvitationLinkPanel({ workspaceId }: { workspaceId: string }) {
  const [server, setServer] = useState(location.origin)
  const make = useCommand('workspaces.invitationLink')
  const link = make.data && URL.canParse(server) ? linkOf({ ...make.data, server }) : null
  return (
    <section className="stack" aria-labelledby="link">
      <h2 id="link">{words.title}</h2>
      <p className="soft">{words.what}</p>
      {make.data ? (
        <TextField label={words.server} value={server} onChange={setServer} mono />
      ) : (
        <div>
          <Button isPending={make.isPending} onPress={() => make.mutate({ workspaceId })}>
            {words.make}
          </Button>
        </div>
      )}
      {make.error ? <FailureNote error={make.error} /> : null}
      {link ? (
        <>
          <CopyButton text={link} name={words.theLink} />
          <QrCode text={link} name={words.code} />
        </>
      ) : null}
    </section>
  )
}
