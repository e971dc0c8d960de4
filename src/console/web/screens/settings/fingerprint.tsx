/** The fingerprint of the workspace's first signed change, by which members compare what they see. */
import { LinkButton } from '../../parts/link_button.tsx'
import { Card } from '../../parts/page/card.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { Fingerprint } from '../members/fingerprint.tsx'

const words = texts.workspaces.settings

export function FingerprintCard({ workspaceId }: { workspaceId: string }) {
  const { data, error } = useAsk('history.read', { workspaceId })
  const isPlain = data === null
  return (
    <Card
      title={words.fingerprint}
      description={isPlain ? words.notSigned : words.fingerprintHelp}
      action={
        isPlain ? undefined : (
          <LinkButton to="/w/$workspaceId/history" params={{ workspaceId }}>
            {words.history}
          </LinkButton>
        )
      }
    >
      {error ? <FailureNote error={error} /> : null}
      {data === undefined && !error ? <SkeletonRows count={1} /> : null}
      {data?.first ? <Fingerprint text={data.first} /> : null}
    </Card>
  )
}
