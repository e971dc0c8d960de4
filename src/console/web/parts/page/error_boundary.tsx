/** Shows the error of a screen that failed. Other screens keep working. */
import { Component, type ReactNode } from 'react'
import { texts } from '../../texts/index.ts'
import { Button } from '../button.tsx'
import { FailureNote } from './failure.tsx'

type Props = { children: ReactNode }
type State = { error: unknown }

export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: null }

  static getDerivedStateFromError(error: unknown): State {
    return { error }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === null) return this.props.children
    return <ScreenFailed error={error} again={() => this.setState({ error: null })} />
  }
}

export function ScreenFailed({ error, again }: { error: unknown; again(): void }) {
  return (
    <section className="flex max-w-160 flex-col gap-4 p-5">
      <h1 className="text-title font-semibold">{texts.errors.screenFailed}</h1>
      <FailureNote error={error} />
      <Button onPress={again}>{texts.errors.tryAgain}</Button>
    </section>
  )
}
