/** The key of the workspace, and a rekey. */
import type { ListedWorkspace } from '../../frame/current_workspace.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/page/card.tsx'
import { CodeBlock } from '../../parts/show/code_block.tsx'
import { texts } from '../../texts/index.ts'
import { isManager } from '../members/listed.ts'
import { useRekey } from '../members/rekey.tsx'

const words = texts.members.rekey

export function KeyCard({ workspace }: { workspace: ListedWorkspace }) {
  const { id, role, isSigned } = workspace
  const rekey = useRekey(id)
  if (!isManager(role)) return null
  return (
    <Card
      title={words.card}
      description={isSigned ? words.cardHelp : words.plain}
      action={isSigned ? <Button onPress={rekey.open}>{words.title}</Button> : undefined}
    >
      {isSigned ? null : <CodeBlock text={words.plainCommand} name={texts.common.theCommand} />}
      {rekey.dialogs}
    </Card>
  )
}
