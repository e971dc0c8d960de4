/** Shown at an address that is not a screen. */
import { FileQuestion } from 'lucide-react'
import { texts } from '../../texts/index.ts'
import { LinkButton } from '../link_button.tsx'
import { EmptyState } from './empty_state.tsx'
import { Screen } from './screen.tsx'

export function NotFound() {
  return (
    <Screen title={texts.common.notFoundTitle}>
      <EmptyState
        icon={FileQuestion}
        title={texts.common.notFound}
        action={<LinkButton to="/">{texts.common.toStart}</LinkButton>}
      />
    </Screen>
  )
}
