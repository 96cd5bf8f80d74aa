export { default } from '@adoption-store/tooling/stryker';
