/** Shown at an address that is not a screen, or of a workspace that is not the user's. */
import { FileQuestion } from 'lucide-react'
import { texts } from '../../texts/index.ts'
import { LinkButton } from '../link_button.tsx'
import { EmptyState } from './empty_state.tsx'
import { Screen } from './screen.tsx'

const words = texts.common

export function NotFound() {
  return <Nothing title={words.notFoundTitle} text={words.notFound} />
}

/** For someone who was a member before. */
export function NoMember() {
  return <Nothing title={words.noMemberTitle} text={words.noMember} />
}

function Nothing({ title, text }: { title: string; text: string }) {
  return (
    <Screen title={title}>
      <EmptyState
        icon={FileQuestion}
        title={text}
        action={<LinkButton to="/">{words.toStart}</LinkButton>}
      />
    </Screen>
  )
}
