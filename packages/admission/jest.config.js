export { default } from '@adoption-store/tooling/jest';
