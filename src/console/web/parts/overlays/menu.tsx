/** A button that opens a menu of actions. */
import { Check, ChevronDown, ChevronRight, Ellipsis, type LucideIcon } from 'lucide-react'
import { cloneElement, type ReactElement } from 'react'
import {
  Button as AriaButton,
  Menu as AriaMenu,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
  SubmenuTrigger,
} from 'react-aria-components'
import { texts } from '../../texts/index.ts'
import { type ButtonLook, ButtonText, buttonClass } from '../button.tsx'
import { Icon } from '../icon.tsx'
import { IconButton } from '../icon_button.tsx'
import { Kbd } from '../show/kbd.tsx'
import { ITEM, LIST, POPOVER } from './list_class.ts'

export type MenuChoice = {
  id: string
  label: string
  /** Ignored if `choices` is set. */
  act?(): void
  /** The choices of a submenu. */
  choices?: readonly MenuChoice[]
  icon?: LucideIcon
  isDanger?: boolean
  /** Shown only: the screen handles the key. */
  shortcut?: string
  /** Given for each choice of a menu that chooses one of several. */
  isSelected?: boolean
}

type Props = Pick<ButtonLook, 'icon' | 'kind' | 'size'> & {
  label: string
  /** Read in place of the label. */
  name?: string
  choices: readonly MenuChoice[]
}

export function Menu({ label, name = label, icon, kind = 'secondary', size, choices }: Props) {
  return (
    <MenuTrigger>
      <AriaButton className={buttonClass({ kind, size })} aria-label={name}>
        <ButtonText icon={icon}>
          {label}
          <Icon of={ChevronDown} size={13} />
        </ButtonText>
      </AriaButton>
      <MenuList name={name} choices={choices} />
    </MenuTrigger>
  )
}

type IconMenuProps = {
  choices: readonly MenuChoice[]
  /** Read and shown as its tooltip. */
  label?: string
  icon?: LucideIcon
  size?: ButtonLook['size']
}

/** A menu behind an icon, such as ⋯ at the end of a row. */
export function IconMenu({ choices, label, icon = Ellipsis, size }: IconMenuProps) {
  const name = label ?? texts.parts.more
  return (
    <MenuTrigger>
      <IconButton icon={icon} label={name} size={size} />
      <MenuList name={name} choices={choices} />
    </MenuTrigger>
  )
}

type AroundProps = {
  /** A `Button` of React Aria, drawn by the caller. */
  trigger: ReactElement<{ 'aria-label'?: string }>
  label: string
  choices: readonly MenuChoice[]
}

/** A menu behind any button, such as the name of a workspace. */
export function MenuAround({ trigger, label, choices }: AroundProps) {
  return (
    <MenuTrigger>
      {cloneElement(trigger, { 'aria-label': label })}
      <MenuList name={label} choices={choices} />
    </MenuTrigger>
  )
}

function MenuList({ name, choices }: { name: string; choices: readonly MenuChoice[] }) {
  const options = choices.filter(({ isSelected }) => isSelected !== undefined)
  const actions = choices.filter(({ isSelected }) => isSelected === undefined)
  const selected = options.filter(({ isSelected }) => isSelected).map(({ id }) => id)
  return (
    <Popover className={POPOVER}>
      <AriaMenu aria-label={name} className={LIST}>
        {options.length > 0 ? (
          <MenuSection aria-label={name} selectionMode="single" selectedKeys={selected}>
            {options.map(choiceElement)}
          </MenuSection>
        ) : null}
        {actions.map(choiceElement)}
      </AriaMenu>
    </Popover>
  )
}

/** No component: React Aria needs the items themselves. */
function choiceElement(choice: MenuChoice) {
  const { id, label, act, icon, isDanger, isSelected, shortcut, choices } = choice
  const item = (
    <MenuItem
      key={id}
      id={id}
      textValue={label}
      onAction={() => act?.()}
      className={isDanger ? `${ITEM} text-red` : ITEM}
    >
      {icon ? <Icon of={icon} /> : null}
      <span className="min-w-0 flex-1 truncate">{label}</span>
      {shortcut ? <Kbd>{shortcut}</Kbd> : null}
      {isSelected ? <Icon of={Check} /> : null}
      {choices ? <Icon of={ChevronRight} size={13} /> : null}
    </MenuItem>
  )
  if (!choices) return item
  return (
    <SubmenuTrigger key={id}>
      {item}
      <MenuList name={label} choices={choices} />
    </SubmenuTrigger>
  )
}
