/** A button. While its action runs it is pending: it keeps its width and can't be pressed again. */
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button as AriaButton, type ButtonProps } from 'react-aria-components'
import { Icon } from './icon.tsx'
import { Kbd } from './show/kbd.tsx'

export type ButtonLook = {
  /** `primary` is the one action that a screen is for; `danger` is for dialogs that destroy something. */
  kind?: keyof typeof KINDS | undefined
  size?: keyof typeof SIZES | undefined
  icon?: LucideIcon | undefined
  isFull?: boolean | undefined
  /** Shown only: the screen handles the key. */
  shortcut?: string | undefined
}

type Props = Omit<ButtonProps, 'className' | 'style' | 'children'> &
  ButtonLook & { children?: ReactNode }

const KINDS = {
  secondary: 'border-line-2 bg-surface text-ink shadow-control hover:bg-hover',
  primary: 'border-transparent bg-accent text-on-accent shadow-control hover:bg-accent-hover',
  ghost: 'border-transparent text-ink-2 hover:bg-hover hover:text-ink',
  danger: 'border-transparent bg-red text-bg shadow-control hover:opacity-90',
}

const SIZES = {
  normal: 'h-8 gap-1.5 rounded-control text-body phone:h-10 phone:after:-inset-y-[3px]',
  small: 'h-6.5 gap-1.5 rounded-[6px] text-small phone:h-8 phone:after:-inset-y-[7px]',
}

const PADDING = { normal: 'px-3', small: 'px-[9px]' }
const SQUARE = {
  normal: 'w-8 phone:w-10 phone:after:-inset-x-[3px]',
  small: 'w-6.5 phone:w-8 phone:after:-inset-x-[7px]',
}

/** A finger needs 44 px, which the pseudo-element adds around a smaller control. */
const TOUCH = 'relative phone:after:absolute'

export function buttonClass({ kind = 'secondary', size = 'normal', isFull }: ButtonLook): string {
  const width = `phone:after:inset-x-0 ${isFull ? 'w-full' : 'w-fit'}`
  return `${lookOf(kind, size)} ${PADDING[size]} ${width}`
}

export function squareButtonClass(kind: keyof typeof KINDS, size: keyof typeof SIZES): string {
  return `${lookOf(kind, size)} ${SQUARE[size]}`
}

function lookOf(kind: keyof typeof KINDS, size: keyof typeof SIZES): string {
  const state = 'off:pointer-events-none off:opacity-50 pending:cursor-default'
  return `inline-flex shrink-0 items-center justify-center border font-medium whitespace-nowrap transition-colors duration-120 ${KINDS[kind]} ${SIZES[size]} ${TOUCH} ${state}`
}

export function Button({ kind, size, icon, isFull, shortcut, children, ...props }: Props) {
  return (
    <AriaButton className={buttonClass({ kind, size, isFull })} {...props}>
      <WithSpinner isPending={props.isPending === true}>
        <ButtonText icon={icon} shortcut={shortcut}>
          {children}
        </ButtonText>
      </WithSpinner>
    </AriaButton>
  )
}

/** Covers the button's label and keeps its width. */
export function WithSpinner({ isPending, children }: { isPending: boolean; children: ReactNode }) {
  return (
    <>
      <span className={`inline-flex items-center gap-[inherit] ${isPending ? 'opacity-0' : ''}`}>
        {children}
      </span>
      {isPending ? (
        <span
          aria-hidden="true"
          className="absolute size-3.5 animate-[spin_0.8s_linear_infinite] rounded-full border-2 border-current border-r-transparent"
        />
      ) : null}
    </>
  )
}

export function ButtonText({
  icon,
  shortcut,
  children,
}: Pick<ButtonLook, 'icon' | 'shortcut'> & { children?: ReactNode }) {
  return (
    <>
      {icon ? <Icon of={icon} /> : null}
      {children}
      {shortcut ? <Kbd>{shortcut}</Kbd> : null}
    </>
  )
}
